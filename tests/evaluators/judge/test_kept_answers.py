"""Judges with a ledger, over real HTTP: no call is paid for twice, and none goes beyond the budget."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from evaluators.budget import BudgetConfig
from evaluators.judge.errors import JudgeError, JudgeErrorType
from evaluators.judge.metrics import JudgeMetrics
from evaluators.judge.prices import Price
from tests.support.clock import ManualClock
from tests.support.judge_question import GOOD, QUESTION, failure, read
from tests.support.judge_reply import always, answer, disconnect, error, hang, in_order, rate_limited, refusing
from tests.support.judge_server import JudgeServer
from tests.support.judges import judge_at, scripted_judge
from tests.support.ledgers import ledger_in
from tests.support.paying_process import BUDGET_TOKENS, CONCURRENCY, QUESTIONS
from tests.support.until import until

REPOSITORY = Path(__file__).parents[3]
PRICES = {"scripted-judge": Price(input=1.0, output=10.0)}


def of_tokens(amount: int) -> BudgetConfig:
    return BudgetConfig(tokens_per_day=amount)


async def test_the_same_question_is_paid_for_once_also_after_a_restart(tmp_path):  # Statement 75.
    registry = CollectorRegistry()
    with JudgeServer(always(answer(GOOD))) as server:
        async with ledger_in(tmp_path) as ledger, judge_at(server, ledger=ledger) as judge:
            first = await judge.ask(QUESTION, read=read)
        async with (
            ledger_in(tmp_path) as ledger,
            judge_at(server, ledger=ledger, metrics=JudgeMetrics(registry), prices=PRICES) as judge,
        ):
            again = await judge.ask(QUESTION, read=read)

    assert len(server.calls) == 1
    assert again.value == first.value
    assert (first.info.calls, first.info.cached_calls) == (1, 0)
    assert (again.info.calls, again.info.cached_calls, again.info.input_tokens, again.info.cost_usd) == (0, 1, 0, 0)
    labels = {"evaluator": "task_adherence", "outcome": "cached"}
    assert registry.get_sample_value("adhere_judge_questions_total", labels) == 1
    assert registry.get_sample_value("adhere_judge_cached_answers_total") == 1


@pytest.mark.parametrize(
    "other",
    [
        {"model": "other"},
        {"temperature": 0.5},
        {"top_p": 0.5},
        {"seed": 1},
        {"reasoning_effort": "low"},
        {"max_output_tokens": 1000},
    ],
    ids=str,
)
async def test_another_model_or_setting_asks_anew(tmp_path, other):
    with JudgeServer(always(answer(GOOD))) as server:
        async with ledger_in(tmp_path) as ledger:
            for settings in ({}, other):
                async with judge_at(server, ledger=ledger, **settings) as judge:
                    await judge.ask(QUESTION, read=read)

    assert len(server.calls) == 2


@pytest.mark.parametrize("part", ["frame", "record", "text", "name"])
async def test_another_question_asks_anew(tmp_path, part):
    async with ledger_in(tmp_path) as ledger, scripted_judge(always(answer(GOOD)), ledger=ledger) as (judge, server):
        await judge.ask(QUESTION, read=read)
        await judge.ask(replace(QUESTION, **{part: f"{getattr(QUESTION, part)}!"}), read=read)
        await judge.sample(1).ask(QUESTION, read=read)

    assert len(server.calls) == 3


async def test_an_endpoint_that_is_getting_known_answers_no_other_question(tmp_path):
    script = refusing(always(answer(GOOD)), parameter="response_format.json_schema")
    with JudgeServer(script) as server:
        for _ in range(2):  # Each life begins with the fullest form of request.
            async with ledger_in(tmp_path) as ledger, judge_at(server, ledger=ledger) as judge:
                await judge.ask(QUESTION, read=read)

    assert len(server.calls) == 2


async def test_an_evaluation_cut_off_between_its_calls_finds_the_finished_one(tmp_path):
    clock = ManualClock()
    with JudgeServer(in_order([answer("prose"), hang(), answer(GOOD)])) as server:
        async with ledger_in(tmp_path) as ledger, judge_at(server, ledger=ledger, clock=clock) as judge:
            asking = asyncio.create_task(judge.ask(QUESTION, read=read))
            await until(lambda: len(server.calls) == 2)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        async with ledger_in(tmp_path) as ledger, judge_at(server, ledger=ledger) as judge:
            given = await judge.ask(QUESTION, read=read)

    assert len(server.calls) == 3
    assert (given.info.calls, given.info.cached_calls, given.repaired) == (1, 1, True)


async def test_answers_that_came_to_nothing_are_forgotten(tmp_path):
    async with (
        ledger_in(tmp_path) as ledger,
        scripted_judge(in_order([answer("prose"), answer("prose"), answer(GOOD)]), ledger=ledger) as (judge, server),
    ):
        failed = await failure(judge)
        given = await judge.ask(QUESTION, read=read)

    assert failed.error_type is JudgeErrorType.MALFORMED
    assert (given.repaired, len(server.calls)) == (False, 3)


async def test_a_kept_answer_is_given_while_the_judge_is_down(tmp_path):
    script = in_order([answer(GOOD), error(500)])
    async with (
        ledger_in(tmp_path) as ledger,
        scripted_judge(script, ledger=ledger, max_attempts=1, breaker_failures=1) as (judge, server),
    ):
        await judge.ask(QUESTION, read=read)
        down = await failure(judge, replace(QUESTION, text="Another?"))
        held = await failure(judge, replace(QUESTION, text="A third?"))
        given = await judge.ask(QUESTION, read=read)

    assert (down.error_type, held.error_type) == (JudgeErrorType.SERVER_ERROR, JudgeErrorType.JUDGE_DOWN)
    assert (given.info.cached_calls, len(server.calls)) == (1, 2)


async def test_a_budget_that_is_used_up_sends_nothing(tmp_path):
    budget = BudgetConfig(usd_per_day=0.25)
    async with (
        ledger_in(tmp_path, budget=budget, keep_answers=False) as ledger,
        scripted_judge(
            always(answer(GOOD)), ledger=ledger, prices={"scripted-judge": Price(60.0, 60.0)}, max_output_tokens=300
        ) as (judge, server),
    ):
        asked = [await asyncio.gather(judge.ask(QUESTION, read=read), return_exceptions=True) for _ in range(30)]
        answered = sum(not isinstance(given, JudgeError) for (given,) in asked)
        sent = len(server.calls)
        failed = await failure(judge)

    assert failed.error_type is JudgeErrorType.BUDGET_EXHAUSTED
    assert 0 < answered == sent == len(server.calls) < 30
    assert failed.retry_after_s > 0


async def test_only_calls_that_may_have_been_answered_stay_booked(tmp_path):
    """A refusal costs nothing; an answer that nobody saw may."""
    replies = [disconnect(), rate_limited(retry_after_s=0), error(500, headers={"retry-after": "0"}), answer(GOOD)]
    registry = CollectorRegistry()
    async with (
        ledger_in(tmp_path, budget=of_tokens(1_000_000), metrics=JudgeMetrics(registry)) as ledger,
        scripted_judge(in_order(replies), ledger=ledger, max_output_tokens=1000) as (judge, _),
    ):
        given = await judge.ask(QUESTION, read=read)

    used = registry.get_sample_value("adhere_judge_budget_used", {"period": "day", "unit": "tokens"})
    unseen = used - given.info.input_tokens - given.info.output_tokens
    assert given.info.calls == 4
    assert 1000 < unseen < 5000


async def test_a_server_that_cannot_be_reached_costs_nothing(tmp_path):
    registry = CollectorRegistry()
    async with (
        ledger_in(tmp_path, budget=of_tokens(1_000_000), metrics=JudgeMetrics(registry)) as ledger,
        scripted_judge(always(answer(GOOD)), base_url="http://127.0.0.1:1/v1", max_attempts=1, ledger=ledger) as (
            judge,
            _,
        ),
    ):
        await failure(judge)

    assert registry.get_sample_value("adhere_judge_budget_used", {"period": "day", "unit": "tokens"}) == 0


def test_a_killed_process_neither_pays_twice_nor_overshoots(tmp_path):
    command = [sys.executable, "-m", "tests.support.paying_process", str(tmp_path)]
    with JudgeServer(always(answer(GOOD, latency_s=0.02))) as server:
        with subprocess.Popen([*command, server.base_url], stdout=subprocess.PIPE, cwd=REPOSITORY) as process:
            before = {process.stdout.readline().decode() for _ in range(6)}
            process.kill()
        at_kill = Counter(call.messages[-1]["content"] for call in server.calls)
        done = subprocess.run(
            [*command, server.base_url], stdout=subprocess.PIPE, cwd=REPOSITORY, text=True, timeout=60, check=True
        )

    asked = Counter(call.messages[-1]["content"] for call in server.calls)
    answered = [line for line in done.stdout.splitlines() if line.startswith("answered")]
    assert len(answered) == QUESTIONS == len(asked)
    assert set(at_kill.values()) == {1}
    assert len(asked - Counter(dict.fromkeys(asked, 1))) <= CONCURRENCY  # Only what was under way is asked again.
    assert all(asked[f"Question {line.split()[1]}?"] == 1 for line in before)
    used = int(done.stdout.split("used ")[1])
    output = len(answer(GOOD).content.encode()) // 4
    truly = sum(call.prompt_tokens + output for call in server.calls)
    assert truly <= used <= BUDGET_TOKENS
