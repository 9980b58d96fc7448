"""The ledger of the judges: what was answered, and what may still be spent."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from evaluators.budget import NANO, Amount, BudgetConfig
from evaluators.judge.errors import JudgeError, JudgeErrorType
from evaluators.judge.ledger import Entry, Recalled
from evaluators.judge.metrics import JudgeMetrics
from tests.support.clock import ManualClock
from tests.support.ledgers import ledger_in
from tests.support.until import until

DAY_S = 86_400.0
ONE = Amount(nanousd=NANO, tokens=100)


async def refusal(ledger, *, bound=ONE):
    with pytest.raises(JudgeError) as raised:
        await ledger.open("k", bound=bound)
    return raised.value


async def test_an_answer_is_recalled_after_a_restart_and_forgotten_when_it_was_of_no_use(tmp_path):
    async with ledger_in(tmp_path) as ledger:
        entry = await ledger.open("k", bound=ONE)
        await ledger.close(entry, spent=ONE, answer=b"answer")

    async with ledger_in(tmp_path) as ledger:
        recalled = await ledger.open("k", bound=ONE)
        other = await ledger.open("other", bound=ONE)
        await ledger.forget(["k"])
        forgotten = await ledger.open("k", bound=ONE)

    assert recalled == Recalled(b"answer")
    assert isinstance(other, Entry)
    assert isinstance(forgotten, Entry)


async def test_without_a_cache_nothing_is_recalled(tmp_path):
    async with ledger_in(tmp_path, keep_answers=False) as ledger:
        await ledger.close(await ledger.open("k", bound=ONE), spent=ONE, answer=b"answer")

        assert isinstance(await ledger.open("k", bound=ONE), Entry)


async def test_a_call_is_booked_before_it_is_made_and_put_right_afterwards(tmp_path):
    registry = CollectorRegistry()
    budget = BudgetConfig(usd_per_day=10, tokens_per_month=5000)

    def used(period, unit):
        return registry.get_sample_value("adhere_judge_budget_used", {"period": period, "unit": unit})

    async with ledger_in(tmp_path, budget=budget, metrics=JudgeMetrics(registry)) as ledger:
        entry = await ledger.open("k", bound=ONE)
        during = (used("day", "usd"), used("month", "tokens"))
        await ledger.close(entry, spent=Amount(NANO // 4, 30), answer=None)
        after = (used("day", "usd"), used("month", "tokens"))

    assert (during, after) == ((1.0, 100), (0.25, 30))
    assert registry.get_sample_value("adhere_judge_budget_limit", {"period": "day", "unit": "usd"}) == 10


async def test_a_call_whose_end_nobody_saw_stays_booked_through_a_restart(tmp_path):
    budget = BudgetConfig(usd_per_day=1.5)
    async with ledger_in(tmp_path, budget=budget) as ledger:
        await ledger.open("k", bound=ONE)  # And the process is killed.

    async with ledger_in(tmp_path, budget=budget) as ledger:
        refused = await refusal(ledger)

    assert refused.error_type is JudgeErrorType.BUDGET_EXHAUSTED
    assert str(refused).startswith(
        "judge.budget.usd_per_day (1.5 USD) is used up: 1 USD are spent and a call may take 1"
    )


async def test_what_is_used_up_renews_with_the_next_day_and_is_reported_once(tmp_path):
    clock = ManualClock()  # 2027-01-15T08:00Z
    with capture_logs() as logs:
        async with ledger_in(tmp_path, clock, budget=BudgetConfig(tokens_per_day=100)) as ledger:
            await ledger.close(await ledger.open("k", bound=ONE), spent=ONE, answer=None)
            refused = [await refusal(ledger) for _ in range(5)]
            clock.jump(refused[0].retry_after_s - 1)
            still = await refusal(ledger)
            clock.jump(1)
            renewed = await ledger.open("k", bound=ONE)

    assert {error.retry_after_s for error in refused} == {16 * 3600.0}
    assert still.retry_after_s == 1
    assert isinstance(renewed, Entry)
    assert [log["event"] for log in logs] == ["judge budget used up"]


async def test_a_month_holds_over_its_days(tmp_path):
    clock = ManualClock()
    async with ledger_in(tmp_path, clock, budget=BudgetConfig(tokens_per_month=250, tokens_per_day=100)) as ledger:
        for _ in range(2):
            await ledger.close(await ledger.open("k", bound=ONE), spent=ONE, answer=None)
            clock.jump(DAY_S)
        refused = await refusal(ledger)

    assert "judge.budget.tokens_per_month (250 tokens) is used up: 200 tokens are spent" in str(refused)


async def test_a_call_that_never_fits_is_no_matter_of_waiting(tmp_path):
    async with ledger_in(tmp_path, budget=BudgetConfig(usd_per_day=0.5)) as ledger:
        refused = await refusal(ledger)

    assert refused.error_type is JudgeErrorType.OVER_BUDGET
    assert not refused.error_type.retryable
    assert "raise it, or lower judge.max_transcript_tokens" in str(refused)


async def test_a_call_waits_for_others_that_are_booked_with_the_most_they_may_cost(tmp_path):
    async with ledger_in(tmp_path, budget=BudgetConfig(usd_per_day=1.5)) as ledger:
        first = await ledger.open("a", bound=ONE)
        second = asyncio.create_task(ledger.open("b", bound=ONE))
        await asyncio.sleep(0)
        await ledger.close(first, spent=Amount(NANO // 10, 10), answer=None)
        opened = await second

    assert isinstance(opened, Entry)


async def test_a_call_does_not_wait_for_ever_for_others(tmp_path):
    clock = ManualClock()
    async with ledger_in(tmp_path, clock, budget=BudgetConfig(usd_per_day=1.5)) as ledger:
        await ledger.open("a", bound=ONE)
        second = asyncio.create_task(refusal(ledger))
        await until(lambda: clock.sleeper_count == 1)
        await clock.advance(16)
        refused = await second

    assert refused.error_type is JudgeErrorType.BUDGET_EXHAUSTED
    assert "is held by calls under way" in str(refused)
    assert refused.retry_after_s is None


async def test_however_calls_end_the_budget_is_never_overshot(tmp_path):
    random = Random(5)
    clock = ManualClock()
    budget = BudgetConfig(tokens_per_day=2000)
    truly_spent = 0

    async def call(ledger, number):
        nonlocal truly_spent
        try:
            entry = await ledger.open(f"k{number}", bound=ONE)
        except JudgeError:
            return
        tokens = random.randint(1, 100)
        truly_spent += tokens
        await asyncio.sleep(0)
        match random.randrange(3):
            case 0:
                ledger.abandon(entry)
            case 1:
                await ledger.close(entry, spent=Amount(0, tokens), answer=None)
            case 2:
                return  # Killed: nothing is said about it any more.

    for life in range(6):
        async with ledger_in(tmp_path, clock, budget=budget) as ledger:
            calling = asyncio.gather(*(call(ledger, f"{life}-{n}") for n in range(12)))
            while not calling.done():
                await clock.advance(20)
                await asyncio.sleep(0.001)

    assert 500 < truly_spent <= 2000
