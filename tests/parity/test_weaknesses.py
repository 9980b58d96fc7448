"""Weaknesses that were measured of others, and our bar at each: by number of calls and tokens, never by time."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evaluators.formats import conversation_from
from evaluators.library import make_evaluator
from evaluators.transcript.tokens import estimate_tokens
from evaluators.verdict import Outcome
from tests.support.honest_judge import honest
from tests.support.input_forms import FORMS, Exchange
from tests.support.judge_reply import always, answer
from tests.support.judges import scripted_judge
from tests.support.parity import judged, pairs

MODEL_EVALUATORS = ["task_adherence", "role_adherence", "conversation_completeness"]
FIFTY = pairs(
    *((f"Where is parcel {n}? I sent it on day {n} of the month.", f"Parcel {n} is in Oslo.") for n in range(50))
)


def visible_tokens(given) -> int:
    return sum(estimate_tokens(text) for turn in given["turns"] for text in turn.values())


@pytest.mark.parametrize("kind", MODEL_EVALUATORS)
@pytest.mark.parametrize(
    "given",
    [pairs(("", "")), pairs(("Hello?", "")), [{"role": "user", "content": "Hello?"}]],
    ids=["nothing", "no answer", "no agent"],
)
async def test_w2_nothing_to_judge_is_never_perfect_and_costs_nothing(kind, given):
    verdict, server = await judged(kind, given)

    assert (verdict.outcome, verdict.score, server.calls) == (Outcome.NOT_ASSESSABLE, None, [])


@pytest.mark.parametrize(
    "value", [17.0, 3, -1, "perhaps", "maybe", "PASS", True, None, [], {"verdict": "pass"}], ids=str
)
async def test_w6_answers_out_of_the_vocabulary_are_no_scores(value):
    dimension = {"reasoning": "", "evidence": [], "verdict": value}
    given = {"injection_suspected": False, "goal": dimension, "rule": dimension, "procedure": dimension, "summary": ""}

    verdict, server = await judged("task_adherence", FIFTY, always(answer(given)))

    assert (verdict.outcome, verdict.score, len(server.calls)) == (Outcome.ERROR, None, 2)


@pytest.mark.parametrize("kind", MODEL_EVALUATORS)
async def test_w9_fifty_turns_are_one_call_of_at_most_twice_the_text_beside_the_rubric(kind):
    _, server = await judged(kind, FIFTY)
    _, small = await judged(kind, pairs(("Hi.", "Hi.")))

    overhead = small.calls[0].prompt_tokens
    assert len(server.calls) == 1
    assert server.calls[0].prompt_tokens - overhead <= 2 * visible_tokens(FIFTY)


@pytest.mark.parametrize("kind", MODEL_EVALUATORS)
async def test_w10_a_further_turn_keeps_what_was_sent_before_it(kind):
    async with scripted_judge(honest) as (judge, server):
        evaluator = make_evaluator(kind, judge=judge)
        for turns in (10, 11):
            await evaluator.evaluate({"conversation_id": "c", "turns": FIFTY["turns"][:turns]})

    before, after = ("".join(message["content"] for message in call.messages[:2]) for call in server.calls)
    assert after.startswith(before)


async def test_w12_the_judge_sees_all_of_it_calls_and_results_and_definitions():
    exchanges = [
        Exchange(f"question {n}", f"answer {n}", tool="look_up", argument=f"argument {n}", result=f"result {n}")
        for n in range(5)
    ]
    given = {**FORMS["chat"](exchanges, "A clerk."), "tools": [{"name": "look_up", "description": "Looks things up."}]}

    verdict, server = await judged("task_adherence", given)

    shown = server.calls[0].text
    assert verdict.details["coverage"] == 1.0
    assert "Looks things up." in shown
    assert all(f"{what} {n}" in shown for n in range(5) for what in ("question", "argument", "result", "answer"))


@pytest.mark.parametrize("kind", MODEL_EVALUATORS)
async def test_w18_a_turn_of_two_hundred_thousand_characters_costs_the_budget_and_no_more(kind):
    given = pairs(("You are a clerk. Summarise this: " + "word " * 40_000, "It says word."), ("Thanks.", "Welcome."))

    verdict, server = await judged(kind, given, judge={"max_record_tokens": 8000})

    assert verdict.outcome in (Outcome.PASS, Outcome.FAIL)
    assert "long_input" in verdict.details["flags"]
    assert all(call.prompt_tokens <= 8000 + 1500 for call in server.calls)
    assert len(server.calls) <= 2
    assert " cut " in server.calls[0].text


async def test_w19_a_missing_result_a_stray_one_and_a_missing_answer_are_flagged_without_a_judge():
    call = {"role": "assistant", "content": [{"type": "tool_call", "tool_call_id": "a", "name": "f", "arguments": {}}]}
    stray = {"role": "tool", "tool_call_id": "z", "content": "stray"}

    verdict = await make_evaluator("rules").evaluate(query="Do it.", response=[call, stray])

    assert {"tool_result_missing", "orphan_result", "output_missing"} <= set(verdict.details["flags"])


@pytest.mark.parametrize("kind", MODEL_EVALUATORS)
async def test_w20_a_stubborn_bad_answer_is_asked_for_twice_at_most(kind):
    verdict, server = await judged(kind, FIFTY, always(answer("Let me think about it.")))

    assert (verdict.outcome, len(server.calls)) == (Outcome.ERROR, 2)


async def test_w21_text_is_sent_as_it_is():
    _, server = await judged("task_adherence", pairs(("包裹在哪里", "在奥斯陆")))

    assert server.calls[0].prompt_tokens < estimate_tokens(json.dumps(server.calls[0].text))
    assert "包裹在哪里" in server.calls[0].text


def test_w22_a_conversation_may_be_judged_seconds_after_its_end():
    from collector.live.pace import Pace
    from collector.live.readiness import ReadinessConfig, UnitFacts, conversation_due

    due = conversation_due(UnitFacts(0, 0, ended=True), Pace(), ReadinessConfig())

    assert due.at_ns <= 10 * 10**9


def test_the_same_conversation_is_the_same_whatever_the_form():
    one = conversation_from(FIFTY)
    other = conversation_from({"messages": [{"llm_test_case": turn} for turn in FIFTY["turns"]]})

    assert replace(one, turns=()) == replace(other, turns=())
    assert one.turns == other.turns
