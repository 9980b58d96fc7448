from __future__ import annotations

import json

import pytest
from google.protobuf.json_format import MessageToJson
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from evaluators.verdict import JudgeInfo, Outcome, UnitKind
from exporters.otlp.span import evaluation_span, traces_request
from tests.support.attributes import plain
from tests.support.golden import assert_golden
from tests.support.verdicts import REFUND_FAILED, SPAN_ID, TRACE_ID, verdict


def test_the_span_looks_as_agreed():
    request = traces_request(
        [
            REFUND_FAILED,
            verdict("c1", unit_kind=UnitKind.CONVERSATION, evaluator="role_adherence", outcome=Outcome.PASS, score=0.9),
        ],
        version="1.2.3",
    )

    assert_golden("otlp/evaluation_spans.json", MessageToJson(request, preserving_proto_field_name=True) + "\n")


def test_the_span_is_a_child_of_the_target_and_linked_to_it_once():
    span = evaluation_span(REFUND_FAILED)

    assert span.trace_id.hex() == TRACE_ID
    assert span.parent_span_id.hex() == SPAN_ID
    assert [(link.trace_id.hex(), link.span_id.hex()) for link in span.links] == [(TRACE_ID, SPAN_ID)]
    assert (span.name, span.kind) == ("evaluation task_adherence", Span.SpanKind.SPAN_KIND_INTERNAL)


def test_the_span_covers_the_time_of_judging():
    span = evaluation_span(REFUND_FAILED)

    assert span.end_time_unix_nano == REFUND_FAILED.judged_ns
    assert span.end_time_unix_nano - span.start_time_unix_nano == 2_500_000_000


def test_the_id_follows_from_the_verdict_id():
    ids = [evaluation_span(verdict(name)).span_id for name in ("v1", "v1", "v2")]

    assert ids[0] == ids[1] != ids[2]
    assert all(len(found) == 8 and any(found) for found in ids)


def test_the_evaluation_attributes_and_the_openinference_carrier_are_there():
    attributes = plain(evaluation_span(REFUND_FAILED).attributes)

    assert attributes["gen_ai.operation.name"] == "evaluation"
    assert attributes["gen_ai.evaluation.name"] == "task_adherence"
    assert attributes["gen_ai.evaluation.score.value"] == 0.25
    assert attributes["openinference.span.kind"] == "EVALUATOR"
    carrier = {
        key.removeprefix("evaluations.0.evaluation."): value
        for key, value in attributes.items()
        if key.startswith("evaluations.0.")
    }
    metadata = json.loads(str(carrier.pop("metadata")))
    assert carrier == {
        "name": "task_adherence",
        "score": 0.25,
        "label": "fail",
        "explanation": REFUND_FAILED.reason,
        "annotator_kind": "LLM",
        "identifier": REFUND_FAILED.id,
    }
    assert metadata["judge"] == "gpt-5-mini"


def test_a_conversation_verdict_annotates_the_session():
    attributes = plain(evaluation_span(verdict(unit_kind=UnitKind.CONVERSATION)).attributes)

    assert attributes["session.evaluations.0.evaluation.score"] == 0.25
    assert attributes["session.id"] == attributes["gen_ai.conversation.id"] == "conv-1"
    assert not any(key.startswith("evaluations.") for key in attributes)


@pytest.mark.parametrize(
    ("judge", "kind"), [(JudgeInfo(name="builtin"), "CODE"), (JudgeInfo(name="gpt-5-mini", calls=0), "LLM")], ids=str
)
def test_the_annotator_is_code_or_a_model(judge: JudgeInfo, kind: str):
    attributes = plain(evaluation_span(verdict(judge=judge)).attributes)

    assert attributes["evaluations.0.evaluation.annotator_kind"] == kind


def test_an_error_is_the_status_of_the_span_and_no_score():
    span = evaluation_span(verdict(outcome=Outcome.ERROR, score=None, label=None, error_type="judge_timeout"))

    attributes = plain(span.attributes)

    assert (span.status.code, span.status.message) == (Status.StatusCode.STATUS_CODE_ERROR, "judge_timeout")
    assert attributes["error.type"] == "judge_timeout"
    assert attributes["evaluations.0.evaluation.label"] == "error"
    assert "evaluations.0.evaluation.score" not in attributes


def test_other_outcomes_leave_the_status_unset():
    codes = {evaluation_span(verdict(outcome=outcome)).status.code for outcome in Outcome if outcome != Outcome.ERROR}

    assert codes == {Status.StatusCode.STATUS_CODE_UNSET}


def test_verdicts_without_a_target_have_no_span():
    request = traces_request([verdict("a", span_id=""), verdict("b")], version="1")

    spans = [span for group in request.resource_spans for scope in group.scope_spans for span in scope.spans]
    assert [plain(span.attributes)["adhere.verdict.id"] for span in spans] == ["b"]


def test_a_resend_is_the_same_bytes():
    once, again = (traces_request([REFUND_FAILED], version="1").SerializeToString(deterministic=True) for _ in range(2))

    assert once == again


def test_content_can_be_left_out():
    span = evaluation_span(verdict(reason="canary reason"), content=False)

    assert b"canary" not in span.SerializeToString()
