"""What happens to units while the judge's budget is used up, and when it renews."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluators.budget import BudgetConfig
from evaluators.evaluator import Judgement
from evaluators.pipeline.limits import PipelineLimits
from evaluators.task_adherence.evaluator import TaskAdherence
from evaluators.verdict import DecisionKind, Outcome
from tests.support.clock import ManualClock
from tests.support.conversations import refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator, passing, refusing
from tests.support.honest_judge import honest
from tests.support.judge_server import JudgeServer
from tests.support.judges import judge_at
from tests.support.judging import judging, setup
from tests.support.ledgers import ledger_in
from tests.support.until import advance_until

LIMITS = PipelineLimits()
HOUR_S = 3600.0


def unit_of(conversation_id: str):
    return turn_unit(refund_conversation(verified=True, conversation_id=conversation_id))


def broke(unit, asked_before):
    """As a judge whose budget renews in ten hours."""
    return Judgement(
        outcome=Outcome.ERROR,
        error_type="budget_exhausted",
        reason="judge.budget.usd_per_day (1 USD) is used up.",
        details={"retry_after_s": 10 * HOUR_S},
        retryable=True,
    )


def kinds(record):
    return [entry.decision.kind for entry in record.decisions if entry.current]


async def submit(found, *names):
    for name in names:
        await found.pipeline.submit(unit_of(name))
        await found.pipeline.drain()


async def pass_hours(found, hours):
    for _ in range(hours):
        await found.clock.advance(HOUR_S)
        await found.pipeline.drain()


async def test_units_wait_for_the_budget_without_asking_and_are_judged_when_it_renews(tmp_path):
    evaluator = ScriptedEvaluator(broke)

    async with judging(tmp_path, setup(evaluator)) as found:
        await submit(found, "a", "b", "c", "d")
        await pass_hours(found, 9)
        asked = len(evaluator.asked)
        first, late = await found.explain("a"), await found.explain("d")
        evaluator.script = passing
        await pass_hours(found, 2)
        after = await found.explain("d")

    assert asked == 3
    assert kinds(first) == kinds(late) == [DecisionKind.DEFERRED_BUDGET]
    assert first.decisions[0].decision.reason == ("budget_exhausted: judge.budget.usd_per_day (1 USD) is used up.")
    assert "is used up; the unit waits for it to renew" in late.decisions[0].decision.reason
    assert len(found.sink.verdicts) == 4
    assert kinds(after) == [DecisionKind.JUDGED]
    assert found.metric("adhere_judging_deferrals_total", kind="deferred_budget") >= 4
    assert found.metric("adhere_judging_decisions_total", kind="judged") == 4


async def test_days_without_money_are_no_refusals_and_fail_nothing(tmp_path):
    evaluator = ScriptedEvaluator(broke)

    async with judging(tmp_path, setup(evaluator), limits=replace(LIMITS, max_refusals=2, max_own_refusals=2)) as found:
        await submit(found, "a", "b", "c")
        await pass_hours(found, 24 * 5)
        evaluator.script = refusing
        await pass_hours(found, 10)
        evaluator.script = passing
        await advance_until(found.clock, lambda: len(found.sink.verdicts) == 3, step_s=600)

    assert [verdict.outcome for verdict in found.sink.verdicts].count(Outcome.PASS) >= 2


async def test_a_restart_with_a_larger_budget_judges_at_once(tmp_path):
    clock = ManualClock()
    async with judging(tmp_path, setup(ScriptedEvaluator(broke)), clock=clock) as found:
        await submit(found, "a", "b", "c", "d")
    await clock.advance(30)

    async with judging(tmp_path, setup(ScriptedEvaluator(passing)), clock=clock) as found:
        await found.pipeline.drain()

    assert len(found.sink.verdicts) == 4


async def test_conversations_that_are_not_to_wait_are_left_out_until_the_budget_renews(tmp_path):
    evaluator = ScriptedEvaluator(broke)

    async with judging(tmp_path, setup(evaluator), limits=replace(LIMITS, budget_wait=0.0)) as found:
        await submit(found, "a", "b", "c", "d")
        asked = len(evaluator.asked)
        left_out = await found.explain("d")
        await submit(found, "d")  # A replay changes nothing.
        await pass_hours(found, 11)
        evaluator.script = passing
        await submit(found, "e")

    assert asked == 3
    assert (kinds(left_out), left_out.waiting) == ([DecisionKind.DEFERRED_BUDGET], ())
    assert "judge.budget.wait leaves this conversation out" in left_out.decisions[0].decision.reason
    assert [verdict.conversation_id for verdict in found.sink.verdicts] == ["e"]
    assert found.metric("adhere_judging_decisions_total", kind="deferred_budget", reason="left_out") == 4
    assert found.metric("adhere_judging_unchanged_total") == 1


async def test_a_share_of_conversations_waits(tmp_path):
    evaluator = ScriptedEvaluator(broke)

    async with judging(tmp_path, setup(evaluator), limits=replace(LIMITS, budget_wait=0.5)) as found:
        await submit(found, *(f"c{n}" for n in range(40)))
        evaluator.script = passing
        await pass_hours(found, 11)

    left_out = found.metric("adhere_judging_decisions_total", kind="deferred_budget", reason="left_out")
    assert left_out + len(found.sink.verdicts) == 40
    assert 8 < left_out < 32


@pytest.mark.parametrize("days", [1, 3])
async def test_a_real_judge_with_a_budget_answers_a_few_units_a_day(tmp_path, days):
    clock = ManualClock()
    budget = BudgetConfig(tokens_per_day=16_000)
    (tmp_path / "ledger").mkdir()
    with JudgeServer(honest) as server:
        async with (
            ledger_in(tmp_path / "ledger", clock, budget=budget) as ledger,
            judge_at(server, ledger=ledger, clock=clock, max_output_tokens=500) as judge,
            judging(tmp_path, setup(TaskAdherence(judge=judge)), clock=clock) as found,
        ):
            for n in range(60):
                await found.pipeline.submit(unit_of(f"c{n}"))
            await found.pipeline.drain()
            a_day = len(found.sink.verdicts)
            await pass_hours(found, 24 * (days - 1))

    spent = sum(verdict.judge.input_tokens + verdict.judge.output_tokens for verdict in found.sink.verdicts)
    assert 0 < a_day < 60 // days
    assert a_day * days - days <= len(found.sink.verdicts) <= (a_day + 2) * days
    assert spent <= days * 16_000
