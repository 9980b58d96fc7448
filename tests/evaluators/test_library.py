"""Evaluators from code of one's own: what goes in, what comes out, and where each mistake shows."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from evaluators.errors import EvaluatorConfigError, InputFormError, MissingArgumentError
from evaluators.formats import conversation_from
from evaluators.judge.config import JudgeConfig
from evaluators.library import make_evaluator
from evaluators.offline import evaluate_all, jobs_of
from evaluators.pipeline.setup import make_setups
from evaluators.registry import EvaluatorRegistry
from evaluators.verdict import Outcome
from tests.support.clock import ManualClock
from tests.support.honest_judge import honest
from tests.support.input_forms import FORMS, Exchange
from tests.support.judge_server import JudgeServer
from tests.support.judges import scripted_judge

PAIRS = {
    "turns": [
        {"input": "You are a pirate.", "actual_output": "Arr."},
        {"input": "Go on.", "actual_output": "As an AI I cannot."},
    ]
}


def judge_of(server):
    return JudgeConfig(model="scripted-judge", base_url=server.base_url, trust_env=False)


@pytest.mark.parametrize("kind", ["role_adherence", "task_adherence", "conversation_completeness"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
async def test_each_evaluator_takes_each_form(kind, form):
    given = form(
        [Exchange("Where is it?", "In Oslo.", tool="locate", argument="P-9", result="Oslo")], "You are a clerk."
    )

    async with scripted_judge(honest) as (judge, _):
        verdict = await make_evaluator(kind, judge=judge).evaluate(given)

    assert (verdict.outcome, verdict.score) == (Outcome.PASS, 1.0)


async def test_arguments_may_be_given_by_name():
    evaluator = make_evaluator("rules", rules=[{"never": "drop_table"}])
    call = {"role": "assistant", "content": [{"type": "tool_call", "name": "drop_table", "arguments": {}}]}

    verdict = await evaluator.evaluate(query="Clean up.", response=[call])

    assert (verdict.outcome, verdict.score) == (Outcome.FAIL, 0.0)


async def test_the_verdict_is_that_of_a_running_adhere():
    clock = ManualClock()
    async with scripted_judge(honest) as (judge, _):
        here = await make_evaluator("role_adherence", judge=judge, clock=clock, threshold=0.9).evaluate(PAIRS)
        setups = make_setups([("role_adherence", {"threshold": 0.9})], registry=EvaluatorRegistry(), judge=judge)
        (there,) = [one async for one in evaluate_all(jobs_of([conversation_from(PAIRS)], setups), clock=clock)]

    assert (here.id, here.outcome, here.score, here.evidence) == (there.id, there.outcome, there.score, there.evidence)


async def test_a_turns_evaluator_judges_the_last_turn_or_each_with_its_history():
    async with scripted_judge(honest) as (judge, server):
        evaluator = make_evaluator("role_adherence", judge=judge, on="turn")
        last = await evaluator.evaluate(PAIRS)
        each = await evaluator.evaluate_turns(PAIRS)

    assert (last.turn_index, last.score) == (1, 0.0)
    assert [(one.turn_index, one.score) for one in each.verdicts] == [(0, 1.0), (1, 0.0)]
    assert (each.score, each.outcome) == (0.5, Outcome.FAIL)
    assert all("You are a pirate." in call.text for call in server.calls)


async def test_turns_can_be_asked_for_of_evaluators_of_turns_only():
    with pytest.raises(EvaluatorConfigError, match="on='turn'"):
        await make_evaluator("role_adherence").evaluate_turns(PAIRS)


def test_code_without_a_loop_waits_for_the_verdict():
    with JudgeServer(honest) as server, make_evaluator("role_adherence", judge=judge_of(server)) as evaluator:
        first, second = evaluator.evaluate_sync(PAIRS), evaluator.evaluate_sync(PAIRS)
        turns = make_evaluator("rules").evaluate_turns_sync(PAIRS)

    assert (first.score, second.score) == (0.5, 0.5)
    assert [one.outcome for one in turns.verdicts] == [Outcome.PASS, Outcome.PASS]


async def test_the_same_evaluator_serves_a_loop_and_code_that_waits_within_it():
    with JudgeServer(honest) as server:
        async with make_evaluator("role_adherence", judge=judge_of(server)) as evaluator:
            awaited = await evaluator.evaluate(PAIRS)
            waited = evaluator.evaluate_sync(PAIRS)

    assert awaited.score == waited.score == 0.5


def test_each_loop_gets_a_judge_of_its_own():
    with JudgeServer(honest) as server:
        evaluator = make_evaluator("role_adherence", judge=judge_of(server))

        async def one() -> float | None:
            async with evaluator:
                return (await evaluator.evaluate(PAIRS)).score

        assert [asyncio.run(one()), asyncio.run(one())] == [0.5, 0.5]


async def test_a_judge_that_is_given_is_not_called_from_another_loop():
    async with scripted_judge(honest) as (judge, _):
        with pytest.raises(EvaluatorConfigError, match="give a JudgeConfig"):
            make_evaluator("role_adherence", judge=judge).evaluate_sync(PAIRS)


async def test_many_at_once_keep_to_the_judges_limit():
    async with scripted_judge(honest, max_concurrency=3) as (judge, server):
        evaluator = make_evaluator("role_adherence", judge=judge)
        verdicts = await asyncio.gather(*(evaluator.evaluate(PAIRS) for _ in range(12)))

    assert len(verdicts) == 12
    assert server.in_flight_peak <= 3


@pytest.mark.parametrize(
    ("given", "arguments", "argument"),
    [
        (None, {}, "conversation"),
        (None, {"query": "a"}, "response"),
        ({"turns": [{"input": "a"}]}, {}, "turns[0].actual_output"),
    ],
    ids=["nothing", "half", "a turn"],
)
async def test_what_is_missing_is_named_before_any_judge_is_asked(given, arguments, argument):
    async with scripted_judge(honest) as (judge, server):
        with pytest.raises(MissingArgumentError) as caught:
            await make_evaluator("role_adherence", judge=judge).evaluate(given, **arguments)

    assert caught.value.argument == argument
    assert server.calls == []


async def test_a_conversation_is_given_once():
    with pytest.raises(InputFormError, match="given twice"):
        await make_evaluator("rules").evaluate(PAIRS, query="a")


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("role_adherence", {"treshold": 1}, "did you mean 'threshold'"),
        ("conversation_completeness", {"threshold": 2}, "must be a number from 0 to 1"),
        ("role", {}, "No evaluator is named 'role'"),
    ],
)
def test_options_are_checked_when_the_evaluator_is_made(kind, options, words):
    with pytest.raises(EvaluatorConfigError, match=words):
        make_evaluator(kind, **options)


@pytest.mark.parametrize(
    ("kind", "options", "threshold"),
    [
        ("task_adherence", {}, 1.0),
        ("rules", {}, 1.0),
        ("role_adherence", {"threshold": 0.7}, 0.7),
        ("role_adherence", {"scale": "binary"}, 1.0),
        ("conversation_completeness", {}, 0.5),
        ("conversation_completeness", {"strict_mode": True}, 1.0),
    ],
)
def test_how_scores_are_to_be_read_is_known_before_any_is_there(kind, options, threshold):
    scale = make_evaluator(kind, **options).scale

    assert (scale.low, scale.high, scale.higher_is_better, scale.threshold) == (0.0, 1.0, True, threshold)


async def test_a_response_that_waits_for_a_result_is_not_judged():
    call = {"role": "assistant", "content": [{"type": "tool_call", "tool_call_id": "c", "name": "f", "arguments": {}}]}

    async with scripted_judge(honest) as (judge, server):
        for kind in ("task_adherence", "role_adherence", "conversation_completeness"):
            verdict = await make_evaluator(kind, judge=judge).evaluate(query="Do it.", response=[call])
            assert (verdict.outcome, verdict.error_type) == (Outcome.NOT_ASSESSABLE, "incomplete")

    assert server.calls == []


def random_pairs(seed: int, turns: int):
    random = Random(seed)
    words = [chr(random.randrange(0x4E00, 0x9FFF)) * 20 for _ in range(turns)]
    return {"turns": [{"input": word, "actual_output": word[::-1]} for word in words]}


async def test_flags_and_measures_stand_on_every_verdict():
    call = {
        "role": "assistant",
        "content": [{"type": "tool_call", "tool_call_id": "c", "name": "f", "arguments": "{a"}],
    }
    stray = {"role": "tool", "tool_call_id": "z", "content": "stray"}

    flagged = await make_evaluator("rules").evaluate(query="Do it.", response=[call, stray])
    timed = await make_evaluator("rules").evaluate(
        turns=[{"input": "a", "actual_output": "b", "latency": 2000, "usage_info": {"input_tokens": 5}, "cost": 0.01}]
    )

    assert flagged.details["flags"] == ["malformed_arguments", "orphan_result", "output_missing", "tool_result_missing"]
    assert timed.details["measures"] == {"latency_s": 2.0, "input_tokens": 5, "cost_usd": 0.01}
    assert "flags" not in timed.details


async def test_a_conversation_that_is_shown_in_part_is_flagged():
    async with scripted_judge(honest, max_record_tokens=1000) as (judge, _):
        verdict = await make_evaluator("task_adherence", judge=judge).evaluate(random_pairs(1, 60))

    assert "long_input" in verdict.details["flags"]
    assert verdict.details["coverage"] < 1
