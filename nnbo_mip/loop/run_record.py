"""`RunRecord`: what is known of a run, and where it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nnbo_mip.core.checks import check_count
from nnbo_mip.core.terms import Direction
from nnbo_mip.drawing.figures import Plot
from nnbo_mip.loop.record.events import Observation
from nnbo_mip.loop.record.ledger import Ledger
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.seen.notebook import run_html
from nnbo_mip.loop.seen.page import page_of_run
from nnbo_mip.loop.seen.plot import plot
from nnbo_mip.loop.seen.run_view import RunView
from nnbo_mip.loop.settings.settings import Settings
from nnbo_mip.loop.step.recommending import Recommendation, recommended
from nnbo_mip.space.space import Space


class RunRecord:
    """Settings, and what was asked and told; `BayesianOptimizer` goes on with it."""

    _settings: Settings
    _meta: Mapping[str, Any]
    _ledger: Ledger

    @property
    def space(self) -> Space:
        """The user's domain."""
        return self._settings.space

    @property
    def direction(self) -> Direction:
        """``minimize`` or ``maximize``."""
        return self._settings.direction

    @property
    def settings(self) -> Settings:
        """Everything that was chosen at the start."""
        return self._settings

    @property
    def journal(self) -> Path | None:
        """The file that keeps the run."""
        return None if self._ledger.journal is None else self._ledger.journal.path

    @property
    def history(self) -> tuple[Observation, ...]:
        """Everything that was told, in order."""
        return self._ledger.state.observations

    @property
    def pending(self) -> tuple[Suggestion, ...]:
        """What was asked and neither told nor forgotten, in order."""
        state = self._ledger.state
        return tuple(state.suggestions[key] for key in state.pending)

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """Everything that was asked, in order."""
        return tuple(self._ledger.state.suggestions.values())

    @property
    def best(self) -> Observation | None:
        """The observation with the best value, the first of those; None without a value.

        Where values are noisy it is the luckiest one; see `recommend`.
        """
        return self._ledger.state.best(self._settings.sign)

    def recommend(self) -> Recommendation | None:
        """Return the point to take: `best`, or where values are noisy that of the best mean.

        That is the mean of a model at the evaluated points, which is fitted for it; noise is what
        was told, or what the model learns. None without a value.
        """
        return recommended(self._settings, self.history, self.best)

    @property
    def seconds(self) -> float:
        """Wall seconds of all calls of `run` together, those of several workers added."""
        return self._ledger.seconds

    @property
    def unwritten(self) -> int:
        """How many events are in memory but could not be written to the journal yet."""
        return len(self._ledger.waiting)

    def flush(self) -> None:
        """Write to the journal what could not be written before."""
        self._ledger.flush()

    def save(self, path: str | Path) -> None:
        """Write the whole run to a new file, which is its journal from then on.

        This is for a run whose journal was deleted, damaged or replaced, or that had none.

        Parameters
        ----------
        path : path
            As for ``journal``.
        """
        self._ledger.save(path, self._meta)

    def view(self, name: str = "run") -> RunView:
        """Return the run as it stands, for pictures and pages."""
        return RunView(self._settings, self._ledger.state, name, self._meta)

    def plot(self, inputs: int = 3) -> Plot:
        """Draw the run: values, what choices promised, slices through the best point, what matters.

        Needs the extra `plots`. The model is learned anew for it, of all that was told, and a
        regret bound is proven where the model has one.

        Parameters
        ----------
        inputs : int
            Through how many of them there are slices: those that matter most, by the model.

        Returns
        -------
        Plot
            A notebook shows it; ``save("run.png")`` writes it; ``figure`` is matplotlib's.
        """
        return plot(self.view(), check_count("inputs", inputs))

    def report(self, out: str | Path = "report.html") -> Path:
        """Write the page of the run, as ``nnbo-mip report run.db`` does, and return its path.

        Parameters
        ----------
        out : path
            One HTML file that needs no other; overwritten.
        """
        name = "A run" if self.journal is None else self.journal.name
        page_of_run(self.view(name)).save(out)
        return Path(out)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return run_html(self.view())

    def __repr__(self) -> str:
        best = self.best
        shown = "no value yet" if best is None else f"best y = {best.y!r}"
        return (
            f"{type(self).__name__}({len(self.history)} told, {len(self.pending)} pending, {shown})"
        )
