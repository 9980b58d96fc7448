"""What waits on disk for a time of day, when that is set back."""

from __future__ import annotations

from pathlib import Path

from evaluators.pipeline.limits import PipelineLimits
from tests.support.clock import ManualClock
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator, passing, refusing
from tests.support.judging import judging, setup
from tests.support.until import advance_until

LIMITS = PipelineLimits()
DAYS_S = 3 * 86400.0


async def test_a_unit_that_waits_does_not_wait_for_days_when_the_clock_is_set_back(tmp_path: Path) -> None:
    evaluator = ScriptedEvaluator(refusing)

    async with judging(tmp_path, setup(evaluator)) as found:
        await found.pipeline.submit(turn_unit(refund_conversation(verified=True)))
        await advance_until(found.clock, lambda: len(evaluator.asked) == 1)
        evaluator.script = passing
        found.clock.jump(-DAYS_S)
        start_s = found.clock.monotonic_s()
        await advance_until(found.clock, lambda: len(evaluator.asked) == 2, step_s=LIMITS.upkeep_interval_s)

    assert found.clock.monotonic_s() - start_s <= LIMITS.defer_max_s + 2 * LIMITS.upkeep_interval_s


async def test_nor_when_it_was_set_back_while_nobody_ran(tmp_path: Path) -> None:
    evaluator = ScriptedEvaluator(refusing)
    async with judging(tmp_path, setup(evaluator), clock=ManualClock()) as found:
        await found.pipeline.submit(turn_unit(refund_conversation(verified=True)))
        await advance_until(found.clock, lambda: len(evaluator.asked) == 1)
        now_ns = found.clock.now_ns()
    evaluator.script = passing

    async with judging(tmp_path, setup(evaluator), clock=ManualClock(now_ns=now_ns - int(DAYS_S * 1e9))) as found:
        start_s = found.clock.monotonic_s()
        await advance_until(found.clock, lambda: len(evaluator.asked) == 2, step_s=LIMITS.upkeep_interval_s)

    assert found.clock.monotonic_s() - start_s <= LIMITS.defer_max_s + 2 * LIMITS.upkeep_interval_s
