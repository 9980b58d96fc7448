"""HTTP answers as bytes: OTLP's success, and google.rpc.Status for everything else."""

from __future__ import annotations

from http import HTTPStatus

from collector.otlp.intake import MediaType
from collector.otlp.rpc_status import status_json, status_protobuf
from collector.otlp.status import WireStatus

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

_SUCCESS = {
    # An empty Export*ServiceResponse: partial_success stays unset on full success.
    MediaType.PROTOBUF: b"",
    MediaType.JSON: b"{}",
}
_EXTRA_HEADERS = {401: b"www-authenticate: Bearer\r\n", 405: b"allow: POST\r\n"}


def success(media: MediaType, *, keep_alive: bool) -> bytes:
    return _answer(200, media, _SUCCESS[media], keep_alive=keep_alive)


def refusal(status: WireStatus, media: MediaType, *, keep_alive: bool) -> bytes:
    body = status_json(status) if media is MediaType.JSON else status_protobuf(status)
    extra = _EXTRA_HEADERS.get(status.http_status, b"")
    if status.retry_after_s is not None:
        extra += b"retry-after: %d\r\n" % status.retry_after_s
    return _answer(status.http_status, media, body, keep_alive=keep_alive, extra=extra)


def _answer(status: int, media: MediaType, body: bytes, *, keep_alive: bool, extra: bytes = b"") -> bytes:
    return b"HTTP/1.1 %d %b\r\ncontent-type: %b\r\ncontent-length: %d\r\n%b%b\r\n%b" % (
        status,
        HTTPStatus(status).phrase.encode(),
        media.value.encode(),
        len(body),
        extra,
        b"" if keep_alive else b"connection: close\r\n",
        body,
    )
