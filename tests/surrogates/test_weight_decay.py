"""Weight decay is maximum a posteriori training; cross-validation finds how much."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.ensembles.deep_ensemble import DeepEnsemble

PENALTIES = (1e-8, 0.05, 50.0)


def trained(penalty: float, X: FloatArray, y: FloatArray):  # type: ignore[no-untyped-def]
    made = DeepEnsemble(hidden=(64, 64), n_members=1, epochs=300, weight_penalty=penalty)
    return made.fit(X, y)


def test_cross_validation_of_the_penalty_picks_a_middle_one_on_noisy_data() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (40, 1))
    y = np.sin(3.0 * X[:, 0]) + 0.4 * rng.standard_normal(40)
    folds = np.arange(40) % 4
    errors = []
    for penalty in PENALTIES:
        left_out = [
            np.square(
                trained(penalty, X[folds != fold], y[folds != fold]).mean(X[folds == fold])
                - y[folds == fold]
            )
            for fold in range(4)
        ]
        errors.append(float(np.mean(left_out)))
    assert errors[1] < errors[0]
    assert errors[1] < errors[2]
    loose, tight = (trained(penalty, X, y) for penalty in (PENALTIES[0], PENALTIES[1]))
    assert np.square(loose.mean(X) - y).mean() < np.square(tight.mean(X) - y).mean()
    sizes = [sum(np.square(w).sum() for w in b.stack.weights) for b in (loose, tight)]
    assert sizes[1] < sizes[0]
