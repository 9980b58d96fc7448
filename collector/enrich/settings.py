"""How long and how much one hold keeps."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class HoldConfig:
    deadline_s: float = 30.0
    """From when a span was received; then it goes on with the scores that are there."""
    max_bytes: int = 64 * MIB
    """Of held spans; above it the oldest go on as they are."""
    unsure_s: float = 0.5
    """How long a span waits for what is around it, where nothing says yet whether it may be a target."""
    settle_s: float = 2.0
    """After a turn is known: how long other spans of its traces wait for a turn of their own, and the least time that
    its target is given for scores."""
