"""Which answer each error gets: the table, and the same table through both transports with real clients."""

from __future__ import annotations

import json

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from collector.errors import (
    JournalFullError,
    JournalUnavailableError,
    MalformedRequestError,
    OverloadedError,
    OwnRequestError,
    PermanentError,
    RequestTooLargeError,
    RetryableError,
    UnauthenticatedError,
    UnsupportedEncodingError,
)
from collector.otlp.refusals import (
    BadHttpError,
    HeadersTooLargeError,
    SlowRequestError,
    UnknownPathError,
    WrongMethodError,
)
from collector.otlp.status import wire_status
from tests.support.appender import FailingAppender
from tests.support.otlp_requests import trace_request
from tests.support.raw_http import post
from tests.support.receivers import grpc_receiver, http_receiver

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

# Error, gRPC code, RetryInfo in seconds, HTTP status, Retry-After.
RETRYABLE = [
    (JournalFullError("Full.", retry_after_s=2.5), "UNAVAILABLE", 2.5, 503, "3"),
    (JournalUnavailableError("Gone."), "UNAVAILABLE", 1.0, 503, "1"),
    (OverloadedError("Busy.", retry_after_s=0.2), "UNAVAILABLE", 0.2, 503, "1"),
    (RetryableError("Later.", retry_after_s=60), "UNAVAILABLE", 60.0, 503, "60"),
]
PERMANENT = [
    (MalformedRequestError("Bad."), "INVALID_ARGUMENT", 400),
    (RequestTooLargeError("Big."), "RESOURCE_EXHAUSTED", 413),
    (UnsupportedEncodingError("Odd."), "INVALID_ARGUMENT", 415),
    (UnauthenticatedError("Who?"), "UNAUTHENTICATED", 401),
    (OwnRequestError("Mine."), "FAILED_PRECONDITION", 508),
    (PermanentError("No."), "INVALID_ARGUMENT", 400),
    (RuntimeError("a secret detail"), "INTERNAL", 500),
]
HTTP_ONLY = [
    (BadHttpError("?"), "INVALID_ARGUMENT", 400),
    (UnknownPathError("?"), "UNIMPLEMENTED", 404),
    (WrongMethodError("?"), "UNIMPLEMENTED", 405),
    (SlowRequestError("?"), "DEADLINE_EXCEEDED", 408),
    (HeadersTooLargeError("?"), "INVALID_ARGUMENT", 431),
]
ROWS = [*RETRYABLE, *((error, code, None, status, None) for error, code, status in PERMANENT)]


def _name(value):
    return type(value).__name__ if isinstance(value, Exception) else str(value)


@pytest.mark.parametrize(("error", "code", "delay_s", "status", "retry_after"), ROWS, ids=_name)
def test_the_table(error, code, delay_s, status, retry_after):
    found = wire_status(error)

    assert (found.grpc_code.name, found.retry_delay_s, found.http_status) == (code, delay_s, status)
    assert (None if found.retry_after_s is None else str(found.retry_after_s)) == retry_after


@pytest.mark.parametrize(("error", "code", "status"), HTTP_ONLY, ids=_name)
def test_what_only_http_can_meet(error, code, status):
    found = wire_status(error)

    assert (found.grpc_code.name, found.http_status, found.retry_delay_s) == (code, status, None)


@pytest.mark.parametrize("media", ["application/x-protobuf", "application/json"])
@pytest.mark.parametrize(("error", "code", "delay_s", "status", "retry_after"), ROWS, ids=_name)
async def test_over_http_in_the_requests_own_type(error, code, delay_s, status, retry_after, media):
    body = trace_request() if media.endswith("protobuf") else b'{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}'

    async with http_receiver(FailingAppender(error)) as receiver:
        answer = await post(receiver.port, "/v1/traces", body, content_type=media)

    assert answer.status == status
    assert answer.headers.get("retry-after") == retry_after
    assert answer.headers["content-type"] == media
    assert b"secret" not in answer.body
    if media == "application/json":
        found = json.loads(answer.body)
        assert found["code"] == getattr(grpc.StatusCode, code).value[0]
        assert [detail["retryDelay"] for detail in found.get("details", [])] == _durations(delay_s)
    else:
        found = Status.FromString(answer.body)
        assert found.code == getattr(grpc.StatusCode, code).value[0]
        assert _delays(found) == ([] if delay_s is None else [delay_s])


@pytest.mark.parametrize(("error", "code", "delay_s", "status", "retry_after"), ROWS, ids=_name)
async def test_over_grpc_with_retry_info_where_a_retry_helps(error, code, delay_s, status, retry_after):
    async with (
        grpc_receiver(FailingAppender(error)) as receiver,
        grpc.aio.insecure_channel(f"127.0.0.1:{receiver.port}") as channel,
    ):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await channel.unary_unary(EXPORT)(trace_request())

    assert caught.value.code().name == code
    assert "secret" not in caught.value.details()
    details = [value for key, value in caught.value.trailing_metadata() if key == "grpc-status-details-bin"]
    if delay_s is None:
        assert details == []
    else:
        found = Status.FromString(details[0])
        assert (found.code, found.message) == (caught.value.code().value[0], caught.value.details())
        assert _delays(found) == [delay_s]


def _delays(status):
    delays = []
    for detail in status.details:
        info = RetryInfo()
        assert detail.Unpack(info)
        delays.append(info.retry_delay.ToNanoseconds() / 1e9)
    return delays


def _durations(delay_s):
    return {None: [], 2.5: ["2.500s"], 0.2: ["0.200s"]}.get(delay_s, [f"{delay_s:.0f}s"] if delay_s else [])
