"""Evaluation events for Pydantic Logfire: OTLP logs with what its live evaluations read besides the conventions.

`gen_ai.evaluation.target` names what was judged; `gen_ai.evaluation.evaluator.*` who judged it. Events add up there:
one sent again after a crash stands there twice, with the same `adhere.verdict.id`.
"""

from __future__ import annotations

from collections.abc import Sequence

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import ResourceLogs, ScopeLogs

from collector.relay.sender import OtlpSender
from collector.telemetry.records import Signal
from evaluators.verdict import Verdict
from exporters.otlp.attributes import AttributeValue
from exporters.otlp.envelope import UNKNOWN_SERVICE, by_service, key_values, resource, scope
from exporters.otlp.event import log_record
from exporters.otlp.exporter import OtlpVerdictExporter
from exporters.text import clean_line


def logfire_exporter(name: str, *, sender: OtlpSender, version: str, content: bool = True) -> OtlpVerdictExporter:
    return OtlpVerdictExporter(
        name,
        sender=sender,
        signal=Signal.LOGS,
        build=lambda verdicts: logfire_request(verdicts, version=version, content=content),
    )


def logfire_request(verdicts: Sequence[Verdict], *, version: str, content: bool = True) -> ExportLogsServiceRequest:
    resources = []
    for service, group in by_service(verdicts, lambda verdict: verdict.service):
        records = [log_record(verdict, content=content) for verdict in group]
        for record, verdict in zip(records, group, strict=True):
            record.attributes.extend(key_values(_more(verdict)))
        resources.append(
            ResourceLogs(resource=resource(service), scope_logs=[ScopeLogs(scope=scope(version), log_records=records)])
        )
    return ExportLogsServiceRequest(resource_logs=resources)


def _more(verdict: Verdict) -> dict[str, AttributeValue]:
    target = verdict.agent_name or verdict.service or UNKNOWN_SERVICE
    return {
        "gen_ai.evaluation.target": clean_line(target, max_chars=256),
        "gen_ai.evaluation.evaluator.source": "adhere",
        "gen_ai.evaluation.evaluator.version": clean_line(verdict.evaluator_version, max_chars=256),
    }
