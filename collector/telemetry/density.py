"""How many objects would parsing make? Asked of big requests before parsing them.

A parsed field may cost 30 times its bytes: 64 MiB of empty spans would take gigabytes.

Both counts are upper bounds by single bytes that each nested message or JSON value must have, counted at memory speed.
Text holds such bytes too, so the limits stand above what real telemetry of the largest size reaches (one byte in 13).
"""

from __future__ import annotations

from functools import cache

from google.protobuf.descriptor import Descriptor

from collector.errors import RequestTooLargeError
from collector.telemetry.envelope import ITEM_CLASSES
from collector.telemetry.records import Signal

_SMALL_BODY_BYTES = 8 << 20
_SMALL_JSON_BYTES = 1 << 20
_MAX_MESSAGES = 8_000_000
_MAX_JSON_VALUES = 3_000_000

_LENGTH_DELIMITED = 2
_ENVELOPE_FIELDS = frozenset({1, 2})
_JSON_MARKS = (b",", b"[", b"{")


def check_protobuf(signal: Signal, body: bytes) -> None:
    if len(body) > _SMALL_BODY_BYTES:
        _check(body, _message_tags(signal), _MAX_MESSAGES)


def check_json(text: bytes) -> None:
    if len(text) > _SMALL_JSON_BYTES:
        _check(text, _JSON_MARKS, _MAX_JSON_VALUES)


def _check(data: bytes, marks: tuple[bytes, ...], limit: int) -> None:
    count = 0
    for mark in marks:
        count += data.count(mark)
        if count > limit:
            raise RequestTooLargeError(
                f"The request ({len(data)} bytes) may hold more than {limit} values; send it in smaller batches."
            )


@cache
def _message_tags(signal: Signal) -> tuple[bytes, ...]:
    """The first bytes of the fields that may hold many messages. OTLP gives them numbers below 16: one byte each."""
    numbers = set(_ENVELOPE_FIELDS)
    pending: list[Descriptor] = [ITEM_CLASSES[signal].DESCRIPTOR]
    seen: set[str] = set()
    while pending:
        message = pending.pop()
        if message.full_name in seen:
            continue
        seen.add(message.full_name)
        for field in message.fields:
            if field.message_type is not None:
                pending.append(field.message_type)
                if field.is_repeated:
                    numbers.add(field.number)
    return tuple(bytes([number << 3 | _LENGTH_DELIMITED]) for number in sorted(numbers) if number < 16)
