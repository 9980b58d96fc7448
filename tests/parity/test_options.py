"""Statements 53 to 64: what can be set."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from adhere.config import load_config
from adhere.run.checks import check_plan
from evaluators.decision.evaluator import DecisionEvaluator
from evaluators.formats import conversation_from
from evaluators.judge.own_model import judge_from
from evaluators.library import make_evaluator
from evaluators.override import override
from evaluators.pipeline.selection import skip
from evaluators.pipeline.setup import make_setup
from evaluators.registry import EvaluatorRegistry
from evaluators.verdict import DecisionKind, Outcome
from evaluators.views.steps import steps_of
from tests.support.clock import ManualClock
from tests.support.command_line import CommandLine
from tests.support.conversations import conversation_unit
from tests.support.honest_judge import honest
from tests.support.judge_reply import always, error
from tests.support.judge_scripts import slow
from tests.support.judge_server import JudgeServer
from tests.support.judges import scripted_judge
from tests.support.parity import completeness_reply, judged, pairs
from tests.support.rubrics import rubric_judge
from tests.support.until import until

TASKS = pairs(("Book a table and a taxi.", "The table is booked."), ("Thanks.", "Welcome."))
HALF = always(completeness_reply((0, "Book a table", "yes"), (0, "a taxi", "no")))


@pytest.mark.parity(53)
@pytest.mark.parametrize(
    ("options", "threshold", "score", "outcome"),
    [
        ({}, 0.5, 0.5, Outcome.PASS),
        ({"threshold": 0.6}, 0.6, 0.5, Outcome.FAIL),
        ({"strict_mode": True}, 1.0, 0.0, Outcome.FAIL),
        ({"strict_mode": True, "threshold": 0.1}, 1.0, 0.0, Outcome.FAIL),
    ],
)
async def test_threshold_and_strict_mode(options, threshold, score, outcome):
    verdict, _ = await judged("conversation_completeness", TASKS, HALF, **options)

    assert (verdict.details["threshold"], verdict.score, verdict.outcome) == (threshold, score, outcome)


@pytest.mark.parity(53)
async def test_the_model_is_chosen_and_calls_run_beside_each_other():
    async with scripted_judge(slow, model="another-model", max_concurrency=8) as (judge, server):
        evaluator = make_evaluator("conversation_completeness", judge=judge)
        await asyncio.gather(*(evaluator.evaluate(TASKS) for _ in range(8)))

    assert {call.body["model"] for call in server.calls} == {"another-model"}
    assert server.in_flight_peak == 8


@pytest.mark.parity(54)
@pytest.mark.parametrize("kind", ["task_adherence", "role_adherence", "conversation_completeness"])
async def test_without_reasons_the_judge_is_asked_for_none(kind):
    _, with_reason = await judged(kind, TASKS, honest)
    verdict, without = await judged(kind, TASKS, honest, include_reason=False)

    assert 'summary: leave it empty ("")' in without.calls[0].text
    assert 'summary: leave it empty ("")' not in with_reason.calls[0].text
    assert len(without.calls) == 1
    assert verdict.reason


@pytest.mark.parity(55)
async def test_the_steps_list_turns_intentions_verdicts_score_and_reason():
    verdict, _ = await judged("conversation_completeness", TASKS, HALF)

    lines = steps_of(verdict, conversation_from(TASKS))

    assert "turn 0 user: Book a table and a taxi." in lines
    assert "intention, turn 0: a taxi" in lines
    assert "  satisfied: no (Looked at.)" in lines
    assert "outcome: pass; score: 0.50; threshold: 0.5" in lines
    assert "reason: Because." in lines


class Scripted:
    """A judge that is a class of one's own."""

    name = "my-model"

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.asked: list[Any] = []

    async def answer(self, messages, *, schema, max_tokens):
        self.asked.append((messages, schema, max_tokens))
        return self.reply


@pytest.mark.parity(56)
async def test_a_class_of_ones_own_is_a_judge():
    model = Scripted(HALF(None).content)

    verdict = await make_evaluator("conversation_completeness", judge=judge_from(model)).evaluate(TASKS)

    assert (verdict.score, verdict.judge.name, verdict.judge.calls) == (0.5, "my-model", 1)
    assert [message["role"] for message in model.asked[0][0]] == ["system", "user", "user"]


@pytest.mark.parity(56)
async def test_what_is_asked_can_be_replaced():
    criteria = [{"name": "polite", "ask": "The agent is polite to the parrot."}]

    verdict, server = await judged("rubric", TASKS, rubric_judge(), criteria=criteria, on="conversation")

    assert verdict.outcome is Outcome.PASS
    assert "The agent is polite to the parrot." in server.calls[0].text


class Oracle:
    """A model that gives a probability, after a while, or never."""

    name = "oracle"

    def __init__(self, probability: object, *, wait: asyncio.Event | None = None) -> None:
        self.probability = probability
        self.wait = wait
        self.seen = ""
        self.cancelled = False

    async def decide(self, question: str, text: str) -> Any:
        self.seen = text
        try:
            if self.wait is not None:
                await self.wait.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return self.probability


@pytest.mark.parity(58)
@pytest.mark.parametrize(
    ("probability", "threshold", "outcome"),
    [
        (0.75, 0.75, Outcome.PASS),
        (0.74, 0.75, Outcome.FAIL),
        (0.5, 0.4, Outcome.PASS),
        (1.2, 0.75, Outcome.ERROR),
        ("yes", 0.75, Outcome.ERROR),
    ],
)
async def test_a_decision_passes_by_its_probability(probability, threshold, outcome):
    evaluator = DecisionEvaluator("Was it polite?", Oracle(probability), name="polite", threshold=threshold)

    verdict = await make_evaluator(evaluator).evaluate(TASKS)

    assert verdict.outcome is outcome
    assert verdict.score == (probability if outcome is not Outcome.ERROR else None)


@pytest.mark.parity(58)
async def test_a_decision_has_a_limit_in_bytes():
    oracle = Oracle(1.0)
    long = pairs(*((f"question {n} 好" * 50, "answer " * 50) for n in range(100)))

    verdict = await make_evaluator(DecisionEvaluator("Was it?", oracle, name="d", max_bytes=8000)).evaluate(long)

    assert 0 < len(oracle.seen.encode()) <= 8000
    assert "long_input" in verdict.details["flags"]


@pytest.mark.parity(58)
async def test_a_decision_has_a_deadline_and_is_cancelled_with_whoever_asks():
    clock, late, left = ManualClock(), Oracle(1.0, wait=asyncio.Event()), Oracle(1.0, wait=asyncio.Event())
    evaluator = make_evaluator(DecisionEvaluator("Was it?", late, name="d", deadline_s=5, clock=clock))
    asked = asyncio.ensure_future(evaluator.evaluate(TASKS))
    await until(lambda: late.seen)
    await clock.advance(5)
    given_up = asyncio.ensure_future(make_evaluator(DecisionEvaluator("Was it?", left, name="d")).evaluate(TASKS))
    await until(lambda: left.seen)
    given_up.cancel()

    assert ((await asked).error_type, late.cancelled) == ("timeout", True)
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert left.cancelled


@pytest.mark.parity(57)
@pytest.mark.parametrize(
    "judge",
    [
        "{model: m, api_key: k}",
        "{model: m, base_url: http://127.0.0.1:1/v1}",
        "{model: deployment, base_url: https://r.openai.azure.com, api_key: k, azure: {}}",
        "{model: deployment, base_url: https://r.openai.azure.com, azure: {credential: token}}",
        "{model: deployment, base_url: https://r.openai.azure.com, api_key: k, azure: {api_version: '2024-10-21'}}",
    ],
    ids=["OpenAI", "compatible", "Azure with a key", "Azure with a token", "Azure's older API"],
)
def test_configurations_of_openai_and_azure(tmp_path, judge):
    path = tmp_path / "adhere.yaml"
    path.write_text(f"judge: {judge}")

    assert any(line.startswith("asks ") for line in check_plan(load_config(path), environ={}))


@pytest.mark.parity(57)
async def test_a_reasoning_model_is_asked_without_what_it_refuses():
    def script(call):
        if "temperature" in call.body:
            return error(400, "Unsupported parameter: 'temperature'.", param="temperature")
        return honest(call)

    verdict, server = await judged("task_adherence", TASKS, script)

    assert verdict.outcome is Outcome.PASS
    assert "temperature" not in server.calls[-1].body


@pytest.mark.parity(59)
async def test_generation_settings_are_sent():
    settings = {"temperature": 0.3, "top_p": 0.9, "max_output_tokens": 700, "reasoning_effort": "low", "seed": 7}

    _, server = await judged("task_adherence", TASKS, judge=settings)

    body = server.calls[0].body
    assert (body["temperature"], body["top_p"], body["reasoning_effort"], body["seed"]) == (0.3, 0.9, "low", 7)
    assert 700 in (body.get("max_tokens"), body.get("max_completion_tokens"))


@pytest.mark.parity(59)
async def test_a_rejected_value_is_reported_and_not_replaced():
    script = always(error(400, "Unsupported value: 'temperature'.", param="temperature"))

    verdict, server = await judged("task_adherence", TASKS, script, judge={"temperature": 0.3})

    assert (verdict.outcome, verdict.score) == (Outcome.ERROR, None)
    assert "temperature" in verdict.reason
    assert {call.body["temperature"] for call in server.calls} == {0.3}


def setup_with(**options):
    return make_setup("rules", {"on": "conversation", **options}, registry=EvaluatorRegistry(), judge=None)


@pytest.mark.parity(60)
@pytest.mark.parametrize("count", ["messages", "user_messages"])
@pytest.mark.parametrize(
    ("condition", "holds"),
    [("lt", False), ("lte", True), ("eq", True), ("gte", True), ("gt", False)],
)
def test_conditions_on_the_number_of_messages(count, condition, holds):
    unit = conversation_unit(conversation_from(TASKS))
    number = 4 if count == "messages" else 2

    found = skip(setup_with(**{count: {condition: number}}), unit)

    assert (found is None) is holds
    assert holds or found.kind is DecisionKind.FILTERED


@pytest.mark.parity(60)
def test_a_share_of_conversations_is_sampled():
    units = [conversation_unit(conversation_from({"conversation_id": f"c-{n}", **TASKS})) for n in range(1000)]

    a_quarter, half = setup_with(sample=0.25), setup_with(sample=0.5)

    judged_ = [unit for unit in units if skip(a_quarter, unit) is None]

    assert 200 < len(judged_) < 300
    assert all(skip(half, unit) is None for unit in judged_)


@pytest.mark.parity(61)
async def test_what_an_evaluator_does_not_apply_to_costs_nothing():
    setup = setup_with(applies={"matches": "(?i)refund", "at_least": 0.5})

    about, other = (
        skip(setup, conversation_unit(conversation_from(pairs((words, "Yes.")))))
        for words in ("A refund please.", "Hello.")
    )

    assert about is None
    assert (other.kind, other.code) == (DecisionKind.FILTERED, "not_applicable")


@pytest.mark.parity(62)
async def test_a_persons_evaluation_replaces_a_score():
    verdict, _ = await judged("conversation_completeness", TASKS, HALF)

    human = override(verdict, score=0.0, reason="No taxi came.", by="ada", now_ns=5)

    assert (human.score, human.outcome, human.reason, human.supersedes) == (
        0.0,
        Outcome.FAIL,
        "No taxi came.",
        verdict.id,
    )
    assert (human.details["human"]["by"], human.details["human"]["at_ns"]) == ("ada", 5)
    assert human.details["human"]["replaced"]["score"] == 0.5


@pytest.mark.parity(63)
async def test_concurrency_is_limited_across_evaluators():
    async with scripted_judge(slow, max_concurrency=3) as (judge, server):
        kinds = ("task_adherence", "conversation_completeness")
        asked = [make_evaluator(kind, judge=judge).evaluate(TASKS) for kind in kinds for _ in range(6)]
        await asyncio.gather(*asked)

    assert server.in_flight_peak == 3


@pytest.mark.parity(63)
async def test_requests_keep_to_a_pace():
    clock = ManualClock()
    async with scripted_judge(honest, clock=clock, max_requests_per_minute=60, max_concurrency=8) as (judge, server):
        evaluator = make_evaluator("conversation_completeness", judge=judge)
        asked = [asyncio.ensure_future(evaluator.evaluate(TASKS)) for _ in range(3)]
        seen = []
        for _ in range(3):
            await until(lambda: len(server.calls) > len(seen))
            seen.append(len(server.calls))
            await clock.advance(1.0)
        await asyncio.gather(*asked)

    assert seen == [1, 2, 3]


@pytest.fixture
def adhere(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(monkeypatch, capsys)


@pytest.mark.parity(63, 64)
def test_a_batch_has_row_results_an_aggregate_and_twenty_at_once(adhere, tmp_path):
    rows, out, config = (tmp_path / name for name in ("rows.jsonl", "out.jsonl", "adhere.yaml"))
    rows.write_text("\n".join(json.dumps({"question": f"Parcel {n}?", "reply": "In Oslo."}) for n in range(40)))
    config.write_text("evaluators: [conversation_completeness]")

    with JudgeServer(slow) as server:
        shown = adhere(
            *("evaluate", rows, "-c", config, "-o", out, "--map", "query=question", "--map", "response=reply"),
            *("--judge-url", server.base_url, "--model", "m", "--view", "deepeval"),
        )

    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert shown.code == 0
    assert [line["row"] for line in found] == list(range(1, 41))
    assert {line["result"]["score"] for line in found} == {1.0}
    assert "40 conversations, 40 verdicts" in shown.out
    assert "100%" in shown.out
    assert server.in_flight_peak >= 20
