"""One journal record to the fragments and waiting spans in it. Never raises for what a record holds.

Spans that cannot hold GenAI telemetry are told by their bytes and stay unparsed. Adhere's own judge and evaluation
telemetry is refused here, whoever sends it back to us. What cannot be read is set aside item by item.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from collector.errors import MalformedRequestError
from collector.journal.protocol import JournalRecord
from collector.live.candidates import CandidateFilter
from collector.live.metrics import LiveMetrics
from collector.live.pending import Pending, RawSpan
from collector.live.reconstruction import Reconstruction
from collector.loop_guard import is_judge_call, is_own
from collector.model import key_of
from collector.operation import Operation, OperationKind
from collector.telemetry.decode import iter_logs, iter_spans
from collector.telemetry.envelope import ITEM_CLASSES, ITEM_NAMES, envelope_class, split
from collector.telemetry.records import LogRecord, Signal, Span
from collector.telemetry.repair import parse
from collector.telemetry.span_decoder import SpanDecoder

log = structlog.get_logger(__name__)

_END_EVENT = "session.end"
_END_MARK = "adhere.conversation.end"
_ENDED_ID_KEYS = ("gen_ai.conversation.id", "session.id")


@dataclass(slots=True)
class Intake:
    """What one record holds, by trace."""

    fragments: dict[str, list[Operation]] = field(default_factory=dict)
    waiting: dict[str, list[Pending]] = field(default_factory=dict)
    ended: list[str] = field(default_factory=list)
    """Ids of conversations whose end was marked."""
    malformed: str | None = None
    """Why the record, or the rest of it, could not be read."""


class RecordReader:
    def __init__(self, reconstruction: Reconstruction, metrics: LiveMetrics) -> None:
        self._reconstruction = reconstruction
        # A mark of a conversation's end names the conversation, which is a marker itself.
        self._candidates = CandidateFilter(reconstruction.markers())
        self._decoder = SpanDecoder()
        self._metrics = metrics

    def read(self, record: JournalRecord) -> Intake:
        intake = Intake()
        try:
            match record.signal:
                case Signal.TRACES:
                    self._spans(record.body, intake)
                case Signal.LOGS:
                    self._logs(record.body, intake)
                case Signal.METRICS:
                    pass
        except MalformedRequestError as err:
            intake.malformed = str(err)
        except Exception as err:  # noqa: BLE001 - a supervision point: the stream goes on behind any record
            self._metrics.failures.labels("record").inc()
            log.warning("record not readable", error=type(err).__name__)
            intake.malformed = f"Reading failed ({type(err).__name__})."
        return intake

    def skeletons(self, waiting: Sequence[Pending]) -> list[Operation]:
        """Waiting spans whose trace turned out to be an agent's."""
        found = [item for item in waiting if isinstance(item, Operation)]
        under: dict[tuple[bytes, bytes], list[bytes]] = {}
        for item in waiting:
            if isinstance(item, RawSpan):
                under.setdefault((item.resource, item.scope), []).append(item.span)
        intake = Intake()
        envelope = envelope_class()
        for (resource, scope), spans in under.items():
            body = envelope(groups=[{"resource": resource, "scopes": [{"scope": scope, "items": spans}]}])
            try:
                for span in iter_spans(body.SerializeToString(), decoder=self._decoder):
                    self._span(span, intake)
            except MalformedRequestError:
                self._metrics.staged.add(self._metrics.items, "unreadable")
        for operations in intake.fragments.values():
            found += operations
        for pending in intake.waiting.values():
            found += [item for item in pending if isinstance(item, Operation)]
        return found

    def _spans(self, body: bytes, intake: Intake) -> None:
        decoder = self._decoder
        for group in split(Signal.TRACES, body).groups:
            for scope_group in group.scopes:
                items = list(scope_group.items)
                for raw, is_candidate in zip(items, self._candidates.flags(items), strict=True):
                    if is_candidate:
                        span = decoder.span(raw, decoder.resource(group.resource), decoder.scope(scope_group.scope))
                        self._span(span, intake)
                    else:
                        self._wait(RawSpan(group.resource, scope_group.scope, raw), intake)

    def _logs(self, body: bytes, intake: Intake) -> None:
        flags: list[bool] = []
        for group in split(Signal.LOGS, body).groups:
            for scope_group in group.scopes:
                flags += self._candidates.flags(list(scope_group.items))
        self._metrics.staged.add(self._metrics.items, "unrelated", count=flags.count(False))
        if any(flags):
            wanted = iter(flags)
            for record in iter_logs(body, wanted=lambda _: next(wanted)):
                self._log(record, intake)

    def _wait(self, span: RawSpan, intake: Intake) -> None:
        trace = _trace_of(span.span)
        if trace:
            intake.waiting.setdefault(trace, []).append(span)
        else:
            self._metrics.staged.add(self._metrics.items, "unrelated")

    def _span(self, span: Span, intake: Intake) -> None:
        if is_own(span):
            self._metrics.staged.add(self._metrics.items, "loop")
            return
        if _END_MARK in span.attributes:
            _note_end(span, intake)
        try:
            operation = self._reconstruction.read_span(span)
        except Exception as err:  # noqa: BLE001 - a supervision point: one span must not hold up the others
            self._failed("span", err, intake)
            return
        if operation is not None and is_judge_call(operation):
            self._metrics.staged.add(self._metrics.items, "loop")
            return
        self._sort(operation, intake)

    def _log(self, record: LogRecord, intake: Intake) -> None:
        if is_own(record):
            self._metrics.staged.add(self._metrics.items, "loop")
            return
        if record.event_name == _END_EVENT or _END_MARK in record.attributes:
            _note_end(record, intake)
        try:
            operation = self._reconstruction.read_log(record)
        except Exception as err:  # noqa: BLE001 - a supervision point, as for spans
            self._failed("log", err, intake)
            return
        self._sort(operation, intake)

    def _sort(self, operation: Operation | None, intake: Intake) -> None:
        if operation is None or not operation.trace_id:
            self._metrics.staged.add(self._metrics.items, "unrelated")
        elif operation.kind is OperationKind.OTHER:
            intake.waiting.setdefault(operation.trace_id, []).append(operation)
        else:
            intake.fragments.setdefault(operation.trace_id, []).append(operation)

    def _failed(self, where: str, err: Exception, intake: Intake) -> None:
        # The type only: a message may hold content.
        log.warning("item not readable", item=where, error=type(err).__name__)
        intake.malformed = f"Reading a {where} failed ({type(err).__name__})."
        self._metrics.failures.labels(where).inc()
        self._metrics.staged.add(self._metrics.items, "unreadable")


def _trace_of(raw: bytes) -> str:
    # Every serialiser in use writes fields in order, so the trace id stands first; else the span is parsed.
    if raw[:2] == b"\x0a\x10" and len(raw) > 18:
        return raw[2:18].hex()
    trace: bytes = parse(ITEM_CLASSES[Signal.TRACES], raw, what=ITEM_NAMES[Signal.TRACES]).trace_id
    return trace.hex()


def _note_end(item: Span | LogRecord, intake: Intake) -> None:
    if item.attributes.get(_END_MARK) is False:
        return
    for key in _ENDED_ID_KEYS:
        conversation_id = item.attributes.get(key)
        if isinstance(conversation_id, str) and conversation_id:
            intake.ended.append(key_of(item.resource.service_name, conversation_id))
            return
