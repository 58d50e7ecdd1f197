"""A module with methods of a user's, written into a folder of its own."""

from __future__ import annotations

from pathlib import Path

NAME = "lab_outside"

SOURCE = '''
import numpy as np


class Drawing:
    """Uniform points; it writes down what it is told."""

    message = "drawn"
    fit_seconds = 0.25

    def __init__(self, task, wrong):
        self.task, self.wrong = task, wrong
        self.rng = np.random.default_rng(task.seed)
        self.told = []

    def ask(self):
        if self.wrong == "raise":
            raise ValueError("two lines:\\nof an error")
        box = self.task.space.numeric()
        if self.wrong == "outside":
            return box.upper + 1.0
        if self.wrong == "batch":
            return np.array([box.lower, box.upper])
        assert len(self.told) >= len(self.task.starts)
        return self.task.space.from_numeric(self.rng.uniform(box.lower, box.upper))

    def tell(self, x, y):
        self.told.append((x, y))
        if len(self.told) == self.task.evaluations:
            print(self.told)


def drawing(task, wrong=""):
    if wrong == "nothing":
        return None
    return Drawing(task, wrong)


NOT_A_FUNCTION = 3
'''


def written(folder: Path) -> Path:
    """Write the module."""
    path = folder / f"{NAME}.py"
    path.write_text(SOURCE)
    return path


def experiment(options: str = "", entry: str = "drawing", problem: str = "branin") -> str:
    """Return the text of an experiment of it, with two starts and three steps."""
    return f"""
problems = ["{problem}"]
starts = 2
steps = 3
baselines = ["random"]
[[methods]]
entry = "{NAME}:{entry}"
{options}
"""
