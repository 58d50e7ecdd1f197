"""Instances of the verification competition, as a folder with ``instances.csv`` holds them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

VERIFIERS = ("alpha_beta_crown", "nnenum", "neuralsat", "pyrat")


@dataclass(frozen=True)
class Instance:
    """A network, a property, and what is published about them.

    Parameters
    ----------
    benchmark, network, specification : str
        As the collection names them.
    verdict : {"sat", "unsat"}
    limit : float
        Seconds that the competition allows.
    published : dict of str to str
        Answers of verifiers, such as ``unsat:1.42``.
    """

    benchmark: str
    network: str
    specification: str
    verdict: str
    limit: float
    published: dict[str, str]

    @property
    def key(self) -> str:
        """What results are stored under."""
        return f"{self.benchmark}/{self.network}/{self.specification}"

    def paths(self, folder: Path) -> tuple[Path, Path]:
        """Return the files of network and property, packed or not."""
        found = []
        for name in (self.network, self.specification):
            plain = folder / self.benchmark / name
            found.append(plain if plain.exists() else plain.with_name(f"{plain.name}.gz"))
        return found[0], found[1]


def load(folder: Path) -> list[Instance]:
    """Return the instances of a folder."""
    with (folder / "instances.csv").open(newline="") as file:
        return [
            Instance(
                row["benchmark"],
                row["network"],
                row["property"],
                row["verdict"],
                float(row["published_limit_s"]),
                {name: row[name] for name in VERIFIERS},
            )
            for row in csv.DictReader(file)
        ]
