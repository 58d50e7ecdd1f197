"""`Extra`: an optional package that a strategy cannot do without."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from nnbo_mip.core.errors import MissingExtraError


@dataclass(frozen=True)
class Extra:
    """A package that `pip install 'nnbo_mip[…]'` brings.

    Parameters
    ----------
    name : str
        Of the extra.
    module : str
        What is imported.
    purpose : str
        What needs it.
    instead : str
        What to take where it cannot be installed.
    """

    name: str
    module: str
    purpose: str
    instead: str

    def load(self) -> Any:
        """Return the package; without it, an error that names the extra."""
        package = self.module.partition(".")[0]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # some announce their next version at import
                import_module(self.module)
                return import_module(package)
        except ImportError as error:
            raise MissingExtraError(
                f"{self.purpose} needs the package {package}, which cannot be imported ({error}); "
                f"install it with pip install 'nnbo_mip[{self.name}]', or {self.instead}."
            ) from error
