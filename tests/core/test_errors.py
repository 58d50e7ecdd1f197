from __future__ import annotations

import inspect

import pytest

from nnbo_mip.core import errors

BUILT_IN = {
    errors.InputError: ValueError,
    errors.MissingFileError: FileNotFoundError,
    errors.UnsupportedError: ValueError,
    errors.LimitError: ValueError,
    errors.MissingExtraError: ImportError,
    errors.SolverError: RuntimeError,
    errors.TrainingError: RuntimeError,
    errors.FileFormatError: ValueError,
    errors.JournalError: OSError,
    errors.StoreError: OSError,
    errors.ClusterError: ConnectionError,
    errors.JournalWarning: UserWarning,
    errors.EvaluationWarning: UserWarning,
    errors.UncertifiedWarning: UserWarning,
    errors.ModelWarning: UserWarning,
    errors.MethodError: RuntimeError,
}


@pytest.mark.parametrize(("ours", "built_in"), BUILT_IN.items())
def test_each_exception_is_also_the_usual_built_in_one(
    ours: type[Exception], built_in: type[Exception]
) -> None:
    assert issubclass(ours, built_in)


def test_every_exception_and_warning_has_the_root_of_its_kind() -> None:
    classes = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    roots = {errors.NnboError, errors.NnboWarning}
    assert set(classes) - roots == set(BUILT_IN)
    for kind in classes:
        root = errors.NnboWarning if issubclass(kind, Warning) else errors.NnboError
        assert issubclass(kind, root)
