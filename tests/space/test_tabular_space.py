"""A tabulated tuning task of 62,208 configurations: encoding is one to one."""

from __future__ import annotations

import itertools

import numpy as np

import nnbo_mip as nm

LEVELS = {
    "n_units_1": (16, 32, 64, 128, 256, 512),
    "n_units_2": (16, 32, 64, 128, 256, 512),
    "dropout_1": (0.0, 0.3, 0.6),
    "dropout_2": (0.0, 0.3, 0.6),
    "activation_1": ("tanh", "relu"),
    "activation_2": ("tanh", "relu"),
    "init_lr": (5e-4, 1e-3, 5e-3, 1e-2, 5e-2, 1e-1),
    "lr_schedule": ("cosine", "const"),
    "batch_size": (8, 16, 32, 64),
}
ORDINAL = ("n_units_1", "n_units_2", "dropout_1", "dropout_2", "init_lr", "batch_size")


def test_configurations_are_encoded_and_decoded_one_to_one() -> None:
    space = nm.Space(
        [
            nm.Integer(name, 0, len(levels) - 1)
            if name in ORDINAL
            else nm.Categorical(name, list(levels))
            for name, levels in LEVELS.items()
        ]
    )
    choices = [range(len(levels)) if name in ORDINAL else levels for name, levels in LEVELS.items()]
    points = [dict(zip(LEVELS, chosen, strict=True)) for chosen in itertools.product(*choices)]
    assert len(points) == 62_208
    encoded = space.encode(points)
    assert encoded.shape == (62_208, 6 + 3 * 2)
    assert len(np.unique(encoded, axis=0)) == 62_208
    assert space.model().admissible(encoded).all()
    assert list(space.decode(encoded)) == points
