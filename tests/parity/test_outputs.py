"""Statements 43 to 52: what comes out."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evaluators.formats import conversation_from
from evaluators.library import make_evaluator
from evaluators.pipeline.setup import EvaluatorSetup
from evaluators.verdict import Outcome
from evaluators.views import VIEW_NAMES, Status, view_of
from evaluators.views.status import status_of_decision
from exporters.otlp.event import log_record
from exporters.otlp.span import evaluation_span
from tests.support.attributes import plain
from tests.support.conversations import conversation_unit
from tests.support.evaluators import ScriptedEvaluator
from tests.support.honest_judge import honest
from tests.support.judge_reply import Reply, always
from tests.support.judging import judging
from tests.support.parity import (
    ORDER_QUERY,
    ORDER_RESPONSE,
    ROLE_ZH,
    ROLE_ZH_REASON,
    completeness_reply,
    judged,
    pairs,
    role_reply,
    task_reply,
)
from tests.support.verdicts import REFUND_FAILED

TASKS = pairs(("Book a table and a taxi.", "The table is booked."))


@pytest.mark.parity(43)
@pytest.mark.parametrize("kind", ["role_adherence", "task_adherence", "conversation_completeness", "rules"])
async def test_a_completed_result_has_a_score_and_a_reason(kind):
    verdict, _ = await judged(kind, {"turns": ROLE_ZH})

    shown = view_of(verdict, "huawei")
    assert set(shown) == {"score", "reason"}
    assert isinstance(shown["score"], float)
    assert isinstance(shown["reason"], str)
    assert shown["reason"]


@pytest.mark.parity(43)
async def test_the_first_seeds_result_as_it_stands():
    script = always(role_reply(None, None, summary=ROLE_ZH_REASON))

    verdict, _ = await judged("role_adherence", {"turns": ROLE_ZH}, script)

    assert view_of(verdict, "huawei") == {"score": 1.0, "reason": ROLE_ZH_REASON}


@pytest.mark.parity(44)
async def test_the_fields_of_a_metric():
    script = always(completeness_reply((0, "Book a table", "yes"), (0, "a taxi", "no")))

    verdict, _ = await judged("conversation_completeness", TASKS, script)

    shown = view_of(verdict, "deepeval")
    assert (shown["score"], shown["success"], shown["threshold"], shown["error"]) == (0.5, True, 0.5, None)
    assert shown["intentions"] == ["Book a table", "a taxi"]
    assert [item["verdict"] for item in shown["verdicts"]] == ["yes", "no"]
    assert shown["input_tokens"] > 0
    assert "evaluation_cost" in shown


@pytest.mark.parity(45)
async def test_the_fields_of_an_azure_evaluator():
    verdict, _ = await judged("task_adherence", {"query": ORDER_QUERY, "response": ORDER_RESPONSE})

    shown = view_of(verdict, "azure")
    assert shown["flagged"] is False
    assert shown["task_adherence_properties"]["finish_reason"] == "stop"
    assert {key: value for key, value in shown.items() if key not in ("flagged", "task_adherence_properties")} == {
        "task_adherence": 1.0,
        "task_adherence_score": 1.0,
        "task_adherence_passed": True,
        "task_adherence_result": "pass",
        "task_adherence_reason": "The agent kept to its task.",
        "task_adherence_status": "completed",
        "task_adherence_threshold": 1.0,
    }


@pytest.mark.parity(46)
@pytest.mark.parametrize("threshold", [0.0, 0.4, 0.5, 0.6, 1.0])
@pytest.mark.parametrize("kind", ["role_adherence", "conversation_completeness"])
async def test_the_label_follows_from_the_reported_threshold(kind, threshold):
    given = pairs(("You are a pirate.", "Arr."), ("Go on.", "As an AI I cannot."))

    verdict, _ = await judged(kind, given, threshold=threshold)

    assert (verdict.score, verdict.details["threshold"]) == (0.5, threshold)
    assert (verdict.outcome is Outcome.PASS) == (verdict.score >= verdict.details["threshold"])
    assert view_of(verdict, "azure")[f"{kind}_threshold"] == threshold


@pytest.mark.parity(47)
async def test_a_new_turn_marks_the_earlier_score_outdated_and_keeps_it(tmp_path):
    one = conversation_from({"conversation_id": "c", **pairs(("a", "b"))})
    two = conversation_from({"conversation_id": "c", **pairs(("a", "b"), ("c", "d"))})
    evaluator = ScriptedEvaluator(unit_kind=conversation_unit(one).kind)

    async with judging(tmp_path, EvaluatorSetup(evaluator)) as running:
        await running.pipeline.submit(conversation_unit(one))
        await running.pipeline.drain()
        await running.pipeline.submit(conversation_unit(two, revision=1))
        await running.pipeline.drain()
        decisions = (await running.explain("c")).decisions

    statuses = [status_of_decision(record.decision.kind) for record in decisions]
    assert sorted(statuses) == [Status.OUTDATED, Status.SUCCESS]
    assert [verdict.score for verdict in running.sink.verdicts] == [1.0, 1.0]
    assert running.sink.verdicts[1].supersedes == running.sink.verdicts[0].id


@pytest.mark.parity(47)
def test_all_statuses_are_there():
    assert {status.value for status in Status} == {"PENDING", "SUCCESS", "FAILED", "SKIPPED", "CANCELLED", "OUTDATED"}


@pytest.mark.parity(48)
async def test_what_nobody_counted_is_null():
    counted, _ = await judged("task_adherence", TASKS)
    builtin, _ = await judged("rules", TASKS)
    uncounted, _ = await judged("task_adherence", TASKS, lambda call: replace(honest(call), usage=False))

    assert view_of(counted, "galtea")["judge_input_tokens"] > 0
    for verdict in (builtin, uncounted):
        shown = view_of(verdict, "galtea")
        assert [shown[f"judge_{kind}_tokens"] for kind in ("input", "output", "reasoning")] == [None] * 3


@pytest.mark.parity(48)
async def test_reasoning_tokens_are_recorded():
    usage = {"prompt_tokens": 50, "completion_tokens": 20, "completion_tokens_details": {"reasoning_tokens": 13}}

    verdict, _ = await judged("task_adherence", TASKS, lambda call: counted_by(usage, honest(call)))

    shown = view_of(verdict, "galtea")
    assert [shown[f"judge_{kind}_tokens"] for kind in ("input", "output", "reasoning")] == [50, 20, 13]


def counted_by(usage: object, reply: Reply) -> Reply:
    choice = {"message": {"role": "assistant", "content": reply.content}, "finish_reason": "stop"}
    return Reply(body=json.dumps({"choices": [choice], "usage": usage}).encode())


@pytest.mark.parity(49)
@pytest.mark.parametrize("limit", [1000, 48_000])
async def test_confidence_and_the_flag_for_long_input(limit):
    given = pairs(*((f"question {n} " + "x" * 200, f"answer {n} " + "y" * 200) for n in range(30)))

    verdict, _ = await judged("task_adherence", given, judge={"max_record_tokens": limit})

    shown = view_of(verdict, "galtea")
    assert shown["long_input"] is (limit == 1000)
    assert shown["confidence"] == (verdict.details["coverage"] if limit == 1000 else 1.0)


@pytest.mark.parity(49)
def test_jurors_who_disagree_lower_the_confidence():
    split = replace(REFUND_FAILED, details={"agreement": 0.6667, "coverage": 1.0})

    assert view_of(split, "galtea")["confidence"] == 0.6667


@pytest.mark.parity(50)
@pytest.mark.parametrize("kind", ["role_adherence", "task_adherence", "conversation_completeness", "rules", "tool_use"])
def test_direction_range_and_threshold_are_machine_readable(kind):
    scale = make_evaluator(kind).scale

    assert (scale.low, scale.high, scale.higher_is_better) == (0.0, 1.0, True)
    assert 0 <= scale.threshold <= 1


@pytest.mark.parity(51)
def test_an_evaluation_event_has_opentelemetrys_names_and_the_judged_spans_place():
    record = log_record(REFUND_FAILED)
    span = evaluation_span(REFUND_FAILED)

    attributes = plain(record.attributes)
    assert record.event_name == "gen_ai.evaluation.result"
    assert (record.trace_id.hex(), record.span_id.hex()) == (REFUND_FAILED.trace_id, REFUND_FAILED.span_id)
    assert span.parent_span_id.hex() == REFUND_FAILED.span_id
    assert {key.removeprefix("gen_ai.evaluation.") for key in attributes if key.startswith("gen_ai.evaluation.")} == {
        "name",
        "score.value",
        "score.label",
        "explanation",
    }


@pytest.mark.parity(52)
@pytest.mark.parametrize("view", VIEW_NAMES)
async def test_a_result_is_small_and_holds_no_content_unless_asked_for(view):
    given = pairs(*((f"secret {n} " + "x" * 400, f"hidden {n} " + "y" * 400) for n in range(50)))

    verdict, _ = await judged("task_adherence", given, always(task_reply()))

    plain = json.dumps(view_of(verdict, view))
    echoed = json.dumps(view_of(verdict, view, echo=conversation_from(given)))
    assert len(plain) < 2000
    assert "secret" not in plain
    assert "hidden" not in plain
    assert "secret 49" in echoed
    assert "hidden 49" in echoed
