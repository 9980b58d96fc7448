"""Agents that send log records and no spans: each record is an operation of its own under a turn.

The ids of such operations are stand-ins, made of the conversation's and the turn's id, so that records of one turn meet
in one trace, in any order of arrival. Where a record names a span, its trace is that span's, and the turn goes under
it. Without an id of the turn all records of the conversation are one trace, and their times tell the turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from collector.messages.decoder import MessageDecoder
from collector.messages.digests import with_digest
from collector.messages.frame import log_frame, stand_in_ids
from collector.messages.markers import gaps_in, is_placeholder
from collector.messages.truncation import decode_or_mend
from collector.messages.values import as_int, as_str, canonical, decode, object_or_text
from collector.model import GapKind, JsonValue
from collector.operation import Chain, Message, Operation, OperationKind, Role, TextPart, Usage
from collector.telemetry.records import LogRecord

_TURN = "turn"
_MS = 1_000_000


def turn_frame(record: LogRecord, *, dialect: str, conversation: str, turn: str | None) -> Operation:
    """The turn itself, from the record of what the user said."""
    frame = log_frame(record, dialect=dialect, kind=OperationKind.AGENT)
    own = _TURN if turn else f"{_TURN} {mark_of(record)}"
    trace_id, span_id = _ids(record, conversation, turn, own)
    return replace(
        frame,
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=record.span_id,
        start_ns=record.time_ns,
        end_ns=record.time_ns,
        is_stand_in=True,
    )


def step_frame(
    record: LogRecord, *, dialect: str, kind: OperationKind, conversation: str, turn: str | None, own: str
) -> Operation:
    """What happened within the turn. `own` tells it from the others; records with equal `own` tell of one operation."""
    frame = log_frame(record, dialect=dialect, kind=kind)
    trace_id, span_id = _ids(record, conversation, turn, own)
    parent = _ids(record, conversation, turn, _TURN)[1] if turn else record.span_id
    lasted_ms = as_int(record.attributes.get("duration_ms")) or 0
    return replace(
        frame,
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=parent,
        start_ns=max(0, record.time_ns - max(0, lasted_ms) * _MS),
        end_ns=record.time_ns,
        is_stand_in=True,
    )


def mark_of(record: LogRecord) -> str:
    """What tells a record without an id from others, and stays the same however often and with whatever it is sent."""
    content = canonical({"time": record.time_ns, "name": record.event_name, "attributes": dict(record.attributes)})
    return blake2b(content, digest_size=8).hexdigest()


def asked(text: object, decoder: MessageDecoder) -> Chain | None:
    """What the user said, as the record's own text; a redacted text is a message that says nothing."""
    message = said(text, Role.USER)
    return decoder.chain_of([message]) if message is not None else None


def answered(text: object) -> tuple[Message, ...]:
    message = said(text, Role.ASSISTANT)
    return (message,) if message is not None else ()


def said(text: object, role: Role) -> Message | None:
    if not isinstance(text, str) or not text.strip():
        return None
    if is_placeholder(text):
        return with_digest(Message(role, (), gaps=(GapKind.REDACTED,)))
    return with_digest(Message(role, (TextPart(text),), gaps=gaps_in(text)))


def recorded_value(value: object) -> tuple[JsonValue, tuple[GapKind, ...]]:
    """An argument object or a result: JSON where it is such, what is left of it where it was cut, and what it lacks."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[") and isinstance(decode(value), str):
        found, was_cut = decode_or_mend(value)
        if was_cut and isinstance(found, (Mapping, list)):
            return object_or_text(found), (GapKind.TRUNCATED,)
    if isinstance(value, str) and is_placeholder(value):
        return None, (GapKind.REDACTED,)
    return object_or_text(value), gaps_in(value) if isinstance(value, str) else ()


def is_false(value: object) -> bool:
    """Some records hold flags as texts."""
    return value is False or (isinstance(value, str) and value.lower() == "false")


def plain_usage(attributes: Mapping[str, Any], sent: str, given: str) -> Usage | None:
    usage = Usage(as_int(attributes.get(sent)), as_int(attributes.get(given)))
    return usage if usage != Usage() else None


def named(attributes: Mapping[str, Any], *keys: str) -> str | None:
    """The first text under the keys, numbers included."""
    for key in keys:
        value = attributes.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if as_str(value):
            return as_str(value)
    return None


def _ids(record: LogRecord, conversation: str, turn: str | None, own: str) -> tuple[str, str]:
    trace_id, span_id = stand_in_ids(record.resource.service_name or "", conversation, turn or "", own=own)
    if record.trace_id:
        return record.trace_id, stand_in_ids(record.trace_id, turn or "", own=own)[1]
    return trace_id, span_id
