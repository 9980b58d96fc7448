"""What must hold at a backend whose relay enriches, however often the processes were killed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.telemetry.records import Signal
from tests.support.otlp_sink import OtlpSink
from tests.support.traffic import Oracle

_IN_FLIGHT = 10
"""Requests that a relay may have under way."""


@dataclass(frozen=True, slots=True)
class ScoredSpans:
    spans: int
    targets: int
    enriched: int
    requests_sent_again: int


def has_all(sink: OtlpSink, oracle: Oracle) -> bool:
    return {span.span_id for span in sink.spans} >= {span.span_id for span in spans_of(oracle.acked)}


def check_scored_spans(sink: OtlpSink, oracle: Oracle, *, kills: int, evaluators: Iterable[str]) -> ScoredSpans:
    """Every span is there as it was sent, but for the scores on targets; and once, unless its sender or a kill asked
    for more: then with the same bytes. The deadline is far away.
    """
    sent = {span.span_id: span.SerializeToString() for span in spans_of(oracle.acked)}
    sent_once = {span.span_id for body in oracle.acked if body not in oracle.retried for span in spans_of([body])}
    copies: dict[bytes, list[bytes]] = defaultdict(list)
    again = 0
    for body in sink.bodies(Signal.TRACES):
        found = list(spans_of([body]))
        again += any(span.span_id in copies and span.span_id in sent_once for span in found)
        for span in found:
            copies[span.span_id].append(span.SerializeToString())
    assert copies.keys() == sent.keys(), "conservation, and nothing unknown"
    different = [key for key, each in copies.items() if {without_scores(one) for one in each} != {sent[key]}]
    assert not different, "all but the scores is as it was sent"
    assert all(len(set(copies[key])) == 1 for key in sent_once), "what is sent again has the same bytes"
    assert again <= _IN_FLIGHT * kills, "only what was under way is sent again"
    targets = [each[0] for key, each in copies.items() if is_target(Span.FromString(sent[key]))]
    enriched = [names for one in targets if (names := score_names(Span.FromString(one)))]
    assert enriched == [set(evaluators)] * len(targets), "each target waited for all of its scores"
    assert not any(
        score_names(Span.FromString(one))
        for key, each in copies.items()
        for one in each
        if not is_target(Span.FromString(sent[key]))
    )
    return ScoredSpans(len(copies), len(targets), len(enriched), again)


def spans_of(bodies: Iterable[bytes]) -> Iterator[Span]:
    for body in bodies:
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in group.scope_spans:
                yield from scope.spans


def is_target(span: Span) -> bool:
    """In what the producers send, it is the agent's."""
    return span.name.startswith("invoke_agent")


def score_names(span: Span) -> set[str]:
    return {pair.key.split(".")[2] for pair in span.attributes if pair.key.startswith("gen_ai.evaluation.")}


def without_scores(span: bytes) -> bytes:
    found = Span.FromString(span)
    kept = [pair for pair in found.attributes if not pair.key.startswith("gen_ai.evaluation.")]
    found.ClearField("attributes")
    found.attributes.extend(kept)
    return found.SerializeToString()
