"""What is shown of runs."""

from __future__ import annotations

METRICS = ("regret", "best")
