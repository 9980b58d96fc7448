"""A verdict as a span of its own in the target's trace: child of the target, and linked to it.

Its id is a hash of the verdict's id, so that a resend is the same span. Its time is when the judge worked. Besides the
`gen_ai.evaluation.*` attributes it has OpenInference's carrier form: kind EVALUATOR, exactly one link, and the
annotation `evaluations.0.evaluation.*` (a turn) or `session.evaluations.0.evaluation.*` (a conversation).
https://github.com/Arize-ai/openinference/blob/main/spec/annotations.md
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from evaluators.verdict import UnitKind, Verdict
from exporters.otlp.attributes import (
    AttributeValue,
    error_type,
    evaluation_attributes,
    explanation,
    score_label,
    score_value,
)
from exporters.otlp.envelope import binary_id, by_service, key_values, resource, scope
from exporters.text import clean_line, clean_text

BUILTIN_JUDGE = "builtin"


def traces_request(verdicts: Sequence[Verdict], *, version: str, content: bool = True) -> ExportTraceServiceRequest:
    """Verdicts without a target span are left out; their event is found by the response id."""
    targeted = [verdict for verdict in verdicts if has_target(verdict)]
    return ExportTraceServiceRequest(
        resource_spans=[
            ResourceSpans(
                resource=resource(service),
                scope_spans=[
                    ScopeSpans(scope=scope(version), spans=[evaluation_span(item, content=content) for item in group])
                ],
            )
            for service, group in by_service(targeted, lambda verdict: verdict.service)
        ]
    )


def has_target(verdict: Verdict) -> bool:
    return bool(binary_id(verdict.trace_id, size=16) and binary_id(verdict.span_id, size=8))


def evaluation_span(verdict: Verdict, *, content: bool = True) -> Span:
    trace_id, target_id = bytes.fromhex(verdict.trace_id), bytes.fromhex(verdict.span_id)
    end_ns = verdict.judged_ns or verdict.target_end_ns
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "evaluation",
        **evaluation_attributes(verdict, content=content),
        **_openinference(verdict, content=content),
    }
    failed = error_type(verdict)
    return Span(
        trace_id=trace_id,
        span_id=evaluation_span_id(verdict.id),
        parent_span_id=target_id,
        name=clean_line(f"evaluation {verdict.evaluator}", max_chars=256),
        kind=Span.SpanKind.SPAN_KIND_INTERNAL,
        start_time_unix_nano=max(0, end_ns - int(verdict.judge.duration_s * 1e9)),
        end_time_unix_nano=end_ns,
        attributes=key_values(attributes),
        links=[Span.Link(trace_id=trace_id, span_id=target_id)],
        status=Status(code=Status.StatusCode.STATUS_CODE_ERROR, message=failed) if failed else Status(),
    )


def evaluation_span_id(verdict_id: str) -> bytes:
    digest = hashlib.sha256(f"adhere.evaluation/{verdict_id}".encode(errors="replace")).digest()
    return digest[:8] if any(digest[:8]) else digest[8:16]


def _openinference(verdict: Verdict, *, content: bool) -> dict[str, AttributeValue]:
    is_turn = verdict.unit_kind is UnitKind.TURN
    prefix = f"{'' if is_turn else 'session.'}evaluations.0.evaluation."
    metadata = {
        "outcome": verdict.outcome.value,
        "revision": verdict.revision,
        "evaluator_version": verdict.evaluator_version,
        "rubric_version": verdict.rubric_version,
        "judge": verdict.judge.name,
        "supersedes": verdict.supersedes,
    }
    fields: dict[str, AttributeValue | None] = {
        "name": clean_line(verdict.evaluator, max_chars=256),
        "score": score_value(verdict),
        # One of score, label and explanation is required there: an outcome without a score is its own label.
        "label": score_label(verdict) or verdict.outcome.value,
        "explanation": (explanation(verdict) or None) if content else None,
        "annotator_kind": "CODE" if verdict.judge.name == BUILTIN_JUDGE else "LLM",
        "identifier": clean_line(verdict.id, max_chars=256),
        "metadata": json.dumps({key: value for key, value in metadata.items() if value is not None}),
    }
    found: dict[str, AttributeValue] = {"openinference.span.kind": "EVALUATOR"}
    if verdict.conversation_id:
        found["session.id"] = clean_text(verdict.conversation_id, max_chars=1024)
    return found | {prefix + key: value for key, value in fields.items() if value is not None}
