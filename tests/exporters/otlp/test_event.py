from __future__ import annotations

import json

import pytest
from google.protobuf.json_format import MessageToJson
from opentelemetry.proto.logs.v1.logs_pb2 import SeverityNumber
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as gen_ai
from opentelemetry.semconv.attributes import error_attributes, service_attributes

from evaluators.verdict import Evidence, JudgeInfo, Outcome, UnitKind
from exporters.otlp.event import log_record, logs_request
from tests.support.attributes import plain
from tests.support.golden import assert_golden
from tests.support.verdicts import REFUND_FAILED, SPAN_ID, TARGET_END_NS, TRACE_ID, verdict


def test_the_event_looks_as_agreed():
    request = logs_request(
        [REFUND_FAILED, verdict("e1", outcome=Outcome.ERROR, score=None, label=None, error_type="judge_timeout")],
        version="1.2.3",
    )

    assert_golden("otlp/evaluation_events.json", MessageToJson(request, preserving_proto_field_name=True) + "\n")


def test_the_conventions_name_the_attributes():
    record = log_record(REFUND_FAILED)

    attributes = plain(record.attributes)

    assert record.event_name == attributes["event.name"] == "gen_ai.evaluation.result"
    assert attributes[gen_ai.GEN_AI_EVALUATION_NAME] == "task_adherence"
    assert attributes[gen_ai.GEN_AI_EVALUATION_SCORE_VALUE] == 0.25
    assert attributes[gen_ai.GEN_AI_EVALUATION_SCORE_LABEL] == "fail"
    assert attributes[gen_ai.GEN_AI_EVALUATION_EXPLANATION] == REFUND_FAILED.reason
    assert attributes[gen_ai.GEN_AI_RESPONSE_ID] == "chatcmpl-7"
    assert attributes[gen_ai.GEN_AI_CONVERSATION_ID] == "conv-1"
    assert attributes[gen_ai.GEN_AI_AGENT_NAME] == "refunds"
    assert attributes[gen_ai.GEN_AI_AGENT_VERSION] == "2.4"
    assert error_attributes.ERROR_TYPE not in attributes


def test_the_event_belongs_to_the_target_span_at_its_end():
    record = log_record(REFUND_FAILED)

    assert record.trace_id.hex() == TRACE_ID
    assert record.span_id.hex() == SPAN_ID
    assert record.time_unix_nano == TARGET_END_NS


@pytest.mark.parametrize(
    ("outcome", "changes", "expected"),
    [
        (Outcome.PASS, {"score": 1.0, "label": None}, {"value": 1.0, "label": "pass"}),
        (Outcome.FAIL, {"score": 0.0, "label": "violates_procedure"}, {"value": 0.0, "label": "violates_procedure"}),
        (Outcome.ABSTAIN, {"score": None, "label": None}, {}),
        (Outcome.ERROR, {"score": 0.0, "label": "fail"}, {}),
        (Outcome.NOT_ASSESSABLE, {"score": None, "label": None}, {}),
    ],
    ids=str,
)
def test_only_pass_and_fail_carry_a_score(outcome: Outcome, changes: dict[str, object], expected: dict[str, object]):
    attributes = plain(log_record(verdict(outcome=outcome, **changes)).attributes)

    prefix = "gen_ai.evaluation.score."
    assert {key.removeprefix(prefix): value for key, value in attributes.items() if key.startswith(prefix)} == expected
    assert attributes["adhere.outcome"] == outcome.value


@pytest.mark.parametrize(
    ("outcome", "given", "error_type", "reason"),
    [
        (Outcome.ERROR, "judge_timeout", "judge_timeout", None),
        (Outcome.ERROR, None, "_OTHER", None),
        (Outcome.NOT_ASSESSABLE, "no_judge", None, "no_judge"),
    ],
    ids=["error", "error_without_type", "not_assessable"],
)
def test_only_an_error_has_an_error_type(
    outcome: Outcome, given: str | None, error_type: str | None, reason: str | None
):
    attributes = plain(log_record(verdict(outcome=outcome, score=None, label=None, error_type=given)).attributes)

    assert attributes.get("error.type") == error_type
    assert attributes.get("adhere.not_assessable.reason") == reason


def test_an_error_is_a_warning_and_everything_else_is_information():
    severities = {outcome: log_record(verdict(outcome=outcome)).severity_number for outcome in Outcome}

    assert severities.pop(Outcome.ERROR) == SeverityNumber.SEVERITY_NUMBER_WARN
    assert set(severities.values()) == {SeverityNumber.SEVERITY_NUMBER_INFO}


def test_a_conversation_verdict_names_its_unit_and_what_it_replaces():
    attributes = plain(
        log_record(verdict("v2", unit_kind=UnitKind.CONVERSATION, revision=3, supersedes="v1", turn_index=4)).attributes
    )

    assert attributes["adhere.unit"] == "conversation"
    assert attributes["adhere.revision"] == 3
    assert attributes["adhere.supersedes"] == "v1"
    assert attributes["adhere.turn.index"] == 4


def test_a_resend_is_the_same_bytes():
    verdicts = [verdict(f"v{number}", service=f"s{number % 2}") for number in range(6)]

    once, again = (logs_request(verdicts, version="1").SerializeToString(deterministic=True) for _ in range(2))

    assert once == again


def test_each_judged_service_has_its_resource_and_the_scope_is_ours():
    request = logs_request([verdict("a", service="shop"), verdict("b", service=None)], version="1.2.3")

    services = [plain(group.resource.attributes)[service_attributes.SERVICE_NAME] for group in request.resource_logs]
    scopes = {(group.scope_logs[0].scope.name, group.scope_logs[0].scope.version) for group in request.resource_logs}

    assert services == ["shop", "unknown_service"]
    assert scopes == {("adhere.evaluation", "1.2.3")}


@pytest.mark.parametrize("trace_id", ["", "xyz", "0" * 32, "ab"], ids=["absent", "not_hex", "zero", "short"])
def test_without_a_valid_target_the_event_stands_alone(trace_id: str):
    record = log_record(verdict(trace_id=trace_id))

    assert (record.trace_id, record.span_id) == (b"", b"")


def test_text_is_bounded_and_harmless():
    record = log_record(
        verdict(
            reason="\x1b[2J" + "long " * 5000,
            label="bad\nlabel\x1b",
            evidence=tuple(Evidence(turn=n, step=None, quote='\x1b["' + "q" * 900) for n in range(40)),
        )
    )

    attributes = plain(record.attributes)
    evidence = json.loads(str(attributes["adhere.evidence"]))

    assert len(str(attributes["gen_ai.evaluation.explanation"])) <= 4000
    assert "[cut:" in str(attributes["gen_ai.evaluation.explanation"])
    assert attributes["gen_ai.evaluation.score.label"] == "bad label"
    assert len(str(attributes["adhere.evidence"])) <= 8100
    assert evidence[-1] == {"truncated": 40 - (len(evidence) - 1)}
    assert "\x1b" not in str(record)


def test_content_can_be_left_out():
    record = log_record(verdict(reason="canary reason", evidence=(Evidence(0, 1, "canary quote"),)), content=False)

    assert b"canary" not in record.SerializeToString()
    assert plain(record.attributes)["gen_ai.evaluation.score.value"] == 0.25


def test_what_the_judge_took_is_told_only_if_there_was_a_call():
    called = plain(log_record(REFUND_FAILED).attributes)
    builtin = plain(log_record(verdict(judge=JudgeInfo(name="builtin"))).attributes)

    assert (called["adhere.judge.model"], called["adhere.cost.usd"]) == ("gpt-5-mini", 0.0015)
    assert (called["adhere.judge.input_tokens"], called["adhere.judge.output_tokens"]) == (1200, 90)
    assert builtin["adhere.judge.model"] == "builtin"
    assert not {"adhere.cost.usd", "adhere.judge.input_tokens"} & builtin.keys()


@pytest.mark.parametrize(("said", "sent"), [(True, True), (False, None), ("yes", None), (None, None)])
def test_a_suspected_injection_is_a_signal_of_its_own(said, sent):
    attributes = plain(log_record(verdict("v1", details={"injection_suspected": said})).attributes)

    assert attributes.get("adhere.injection.suspected") is sent
