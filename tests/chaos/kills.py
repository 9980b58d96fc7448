"""When to kill what: a seeded plan, by what the load has reached rather than by the clock of a busy machine."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Target = Literal["collector", "evaluator", "supervisor"]
_WORK: Mapping[Target, tuple[int, int]] = {"collector": (10, 80), "evaluator": (1, 12), "supervisor": (60, 160)}


@dataclass(frozen=True, slots=True)
class Kill:
    target: Target
    moment: Literal["at_start", "at_work"]
    """at_start: as soon as the process is there, whatever it has loaded; at_work: once it got something done."""
    work: int
    """Further acknowledgements (collector, supervisor) or verdicts (evaluator) that there must have been before."""
    delay_s: float


def plan_kills(*, seed: int, kills: int) -> Mapping[Target, Sequence[Kill]]:
    """A lane each, carried out at the same time: so the processes fall alone, together, and while others start."""
    rng = random.Random(seed)
    supervisors = max(1, kills // 10)
    collectors = (kills - supervisors) // 2
    lanes: dict[Target, int] = {
        "supervisor": supervisors,
        "collector": collectors,
        "evaluator": kills - supervisors - collectors,
    }
    return {
        target: [
            Kill(
                target=target,
                moment="at_start" if target != "supervisor" and rng.random() < 0.25 else "at_work",
                work=rng.randint(*_WORK[target]),
                delay_s=rng.uniform(0, 0.2),
            )
            for _ in range(count)
        ]
        for target, count in lanes.items()
    }
