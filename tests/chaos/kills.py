"""When to kill what: a seeded plan, by what the load has reached rather than by the clock of a busy machine."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Target = Literal["collector", "evaluator", "supervisor"]


@dataclass(frozen=True, slots=True)
class Kill:
    target: Target
    moment: Literal["at_start", "at_work"]
    """at_start: as soon as the process is there, whatever it has loaded; at_work: once it got something done."""
    work: int
    """Further acknowledgements (collector, supervisor) or verdicts (evaluator) that it must have got done."""
    delay_s: float


def plan_kills(*, seed: int, kills: int) -> Sequence[Kill]:
    """Every target is in it, more often those that hold state."""
    rng = random.Random(seed)
    supervisors = max(1, kills // 10)
    collectors = (kills - supervisors) // 2
    targets: list[Target] = ["supervisor"] * supervisors + ["collector"] * collectors
    targets += ["evaluator"] * (kills - len(targets))
    rng.shuffle(targets)
    return [
        Kill(
            target=target,
            moment="at_start" if rng.random() < 0.25 else "at_work",
            work=rng.randint(1, 12),
            delay_s=rng.uniform(0, 0.1),
        )
        for target in targets
    ]
