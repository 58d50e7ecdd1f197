"""Text that is no TOML ends in a ValueError, whatever `tomllib` makes of it."""

from __future__ import annotations

import pytest

from nnbo_mip.core.toml import parsed_toml


def test_integers_have_64_bits() -> None:
    assert parsed_toml(f"a = {2**63 - 1}\nb = [{{ c = -{2**63} }}]")["b"] == [{"c": -(2**63)}]
    for text in (f"a = {2**63}", f"[a]\nb = [1, {{ c = -{2**63 + 1} }}]", "a = 0x" + "f" * 9000):
        with pytest.raises(ValueError, match="64 bits"):
            parsed_toml(text)


@pytest.mark.parametrize("text", ["a = " + "9" * 9000, "a = " + "[" * 9000, "a = "])
def test_what_tomllib_cannot_take_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        parsed_toml(text)
