"""The exceptions and warnings of nnbo_mip, under one root each.

Every exception is also a built-in one, so that ``except ValueError`` keeps its usual meaning.
Messages say what is wrong, what was expected, what was got, and what to do.
"""

from __future__ import annotations


class NnboError(Exception):
    """Root of every exception that nnbo_mip raises on purpose."""


class InputError(NnboError, ValueError):
    """An argument has a wrong value: shape, range, NaN, unknown name, empty set."""


class MissingFileError(InputError, FileNotFoundError):
    """A path names no file."""


class UnsupportedError(NnboError, ValueError):
    """A layer, node or combination of options cannot be represented exactly."""


class LimitError(UnsupportedError):
    """A piece of work would pass the limit of memory or time, and was not begun."""


class MissingExtraError(NnboError, ImportError):
    """An optional package is not installed; the message names the extra that brings it."""


class SolverError(NnboError, RuntimeError):
    """A solver crashed, refused its input, or contradicted itself."""


class TrainingError(NnboError, RuntimeError):
    """A surrogate could not be trained: its loss left the finite numbers at every step size."""


class FileFormatError(NnboError, ValueError):
    """A file is truncated, hostile, or not in the format that was expected."""


class MethodError(NnboError, RuntimeError):
    """A method of somebody else raised, or asked for what is no point of its space."""


class JournalError(NnboError, OSError):
    """A journal could not be written or read; what was told is kept in memory."""


class StoreError(NnboError, OSError):
    """A store of results could not be written or read."""


class ClusterError(NnboError, ConnectionError):
    """A Dask cluster cannot be reached, or cannot run the units of an experiment."""


class NnboWarning(UserWarning):
    """Root of every warning that nnbo_mip issues."""


class JournalWarning(NnboWarning):
    """A suggestion is in memory but not in the journal."""


class EvaluationWarning(NnboWarning):
    """An evaluation failed; the run goes on without its value."""


class ModelWarning(NnboWarning):
    """What a model says of a run's next point means little."""


class UncertifiedWarning(NnboWarning):
    """The value returned comes without a proof that nothing scores above it."""
