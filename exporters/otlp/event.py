"""A verdict as the log-based event `gen_ai.evaluation.result`, on the target span's trace and span id.

The event's time is the end of the target span, so that a resend is the same record, byte for byte; when it was
judged is its observed time. The name is also an attribute, since older collectors drop `event_name`.
"""

from __future__ import annotations

from collections.abc import Sequence

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs, SeverityNumber

from evaluators.verdict import Outcome, Verdict
from exporters.otlp.attributes import EVENT_NAME, evaluation_attributes, score_value
from exporters.otlp.envelope import binary_id, by_service, key_values, resource, scope
from exporters.text import clean_line


def logs_request(verdicts: Sequence[Verdict], *, version: str, content: bool = True) -> ExportLogsServiceRequest:
    return ExportLogsServiceRequest(
        resource_logs=[
            ResourceLogs(
                resource=resource(service),
                scope_logs=[
                    ScopeLogs(scope=scope(version), log_records=[log_record(item, content=content) for item in group])
                ],
            )
            for service, group in by_service(verdicts, lambda verdict: verdict.service)
        ]
    )


def log_record(verdict: Verdict, *, content: bool = True) -> LogRecord:
    failed = verdict.outcome is Outcome.ERROR
    trace_id = binary_id(verdict.trace_id, size=16)
    return LogRecord(
        time_unix_nano=verdict.target_end_ns or verdict.judged_ns,
        observed_time_unix_nano=verdict.judged_ns or verdict.target_end_ns,
        severity_number=SeverityNumber.SEVERITY_NUMBER_WARN if failed else SeverityNumber.SEVERITY_NUMBER_INFO,
        severity_text="WARN" if failed else "INFO",
        event_name=EVENT_NAME,
        body=AnyValue(string_value=_summary(verdict)),
        attributes=key_values({"event.name": EVENT_NAME, **evaluation_attributes(verdict, content=content)}),
        trace_id=trace_id,
        span_id=binary_id(verdict.span_id, size=8) if trace_id else b"",
    )


def _summary(verdict: Verdict) -> str:
    """For viewers that show the body only; free of content."""
    score = score_value(verdict)
    text = f"{verdict.evaluator}: {verdict.outcome.value}" + (f" ({score:.2f})" if score is not None else "")
    return clean_line(text, max_chars=300)
