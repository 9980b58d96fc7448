"""What a server's refusal means: HTTP status or gRPC code to our errors, by the tables of the OTLP specification.

Also reads google.rpc.Status, RetryInfo and Retry-After. Text from the server is shortened and freed of control
characters before it may reach a log.
"""

from __future__ import annotations

import email.utils
from datetime import UTC
from http import HTTPStatus

import grpc

from collector.errors import (
    AdhereError,
    MalformedRequestError,
    PermanentError,
    RequestTooLargeError,
    RetryableError,
    UnauthenticatedError,
    UnsupportedEncodingError,
)
from collector.relay.wire import BYTES, VARINT, fields, read_varint

MAX_TEXT = 200

_RETRYABLE_HTTP = frozenset({429, 502, 503, 504})
_RETRYABLE_GRPC = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)


def http_error(status: int, *, server: str, text: str = "", retry_after_s: float | None = None) -> AdhereError:
    """The error for any HTTP status that is no success. `server` names the destination in the sentence."""
    try:
        phrase = f" {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = ""
    message = _sentence(f"{server} answered {status}{phrase}", text)
    if status in _RETRYABLE_HTTP:
        return RetryableError(message, retry_after_s=retry_after_s)
    match status:
        case 400:
            return MalformedRequestError(message)
        case 401 | 403:
            return UnauthenticatedError(message)
        case 413:
            return RequestTooLargeError(message)
        case 415:
            return UnsupportedEncodingError(message)
        case _:
            return PermanentError(message)


def grpc_error(
    code: grpc.StatusCode, *, server: str, text: str = "", retry_after_s: float | None = None
) -> AdhereError:
    """The error for any gRPC code but OK. `retry_after_s` is the RetryInfo's delay, None where there is none."""
    message = _sentence(f"{server} answered {code.name}", text)
    exhausted = code is grpc.StatusCode.RESOURCE_EXHAUSTED
    if code in _RETRYABLE_GRPC or (exhausted and retry_after_s is not None):
        return RetryableError(message, retry_after_s=retry_after_s)
    match code:
        case grpc.StatusCode.INVALID_ARGUMENT:
            return MalformedRequestError(message)
        case grpc.StatusCode.UNAUTHENTICATED | grpc.StatusCode.PERMISSION_DENIED:
            return UnauthenticatedError(message)
        case grpc.StatusCode.RESOURCE_EXHAUSTED:
            # The specification's answer to a request over the limit; a quota without RetryInfo looks the same.
            return RequestTooLargeError(message)
        case _:
            return PermanentError(message)


def retry_after_s(header: str | None, *, now_ns: int) -> float | None:
    """Seconds from a Retry-After header, which holds seconds or an HTTP date; None where it cannot be read."""
    if header is None:
        return None
    header = header.strip()
    if header.isascii() and header.isdigit():
        return float(header[:9])
    try:
        at = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return None
    # A date in "-0000" comes without a zone; HTTP dates are always GMT.
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return max(0.0, at.timestamp() - now_ns / 1e9)


def status_text(status: bytes) -> str:
    """`message` of a google.rpc.Status; "" where the bytes are none."""
    try:
        for field in fields(status):
            if field.number == 2 and field.wire_type == BYTES:
                return printable(status[field.value_start : field.end])
    except MalformedRequestError:
        return ""
    return ""


def retry_info_s(status: bytes | None) -> float | None:
    """The delay of the RetryInfo among a google.rpc.Status' details; None where there is none."""
    try:
        for detail in fields(status or b""):
            if status and detail.number == 3 and detail.wire_type == BYTES:
                delay = _retry_delay_s(status[detail.value_start : detail.end])
                if delay is not None:
                    return delay
    except MalformedRequestError:
        return None
    return None


def printable(text: bytes | str) -> str:
    """At most MAX_TEXT characters, each of them printable."""
    if isinstance(text, bytes):
        text = text[: 4 * MAX_TEXT].decode(errors="replace")
    shown = "".join(character if character.isprintable() else " " for character in text[: MAX_TEXT + 1]).strip()
    return shown if len(shown) <= MAX_TEXT else f"{shown[: MAX_TEXT - 1]}…"


def _sentence(what: str, text: str) -> str:
    return f"{what}: {printable(text).rstrip('.')}." if text else f"{what}."


def _retry_delay_s(detail: bytes) -> float | None:
    """google.protobuf.Any {type_url = 1, value = 2} around RetryInfo {retry_delay = 1 {seconds = 1, nanos = 2}}."""
    parts = {field.number: detail[field.value_start : field.end] for field in fields(detail)}
    if not parts.get(1, b"").endswith(b"/google.rpc.RetryInfo"):
        return None
    info = parts.get(2, b"")
    seconds = 0.0
    for field in fields(info):
        if field.number == 1 and field.wire_type == BYTES:
            duration = info[field.value_start : field.end]
            for part in fields(duration):
                if part.wire_type == VARINT:
                    value = _signed(read_varint(duration, part.value_start)[0])
                    seconds += value if part.number == 1 else value / 1e9
    return max(0.0, seconds)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
