import email.utils

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import DebugInfo, RetryInfo
from google.rpc.status_pb2 import Status

from collector.errors import (
    MalformedRequestError,
    PermanentError,
    RequestTooLargeError,
    RetryableError,
    UnauthenticatedError,
    UnsupportedEncodingError,
)
from collector.relay.refusal import (
    MAX_TEXT,
    grpc_error,
    http_error,
    printable,
    retry_after_s,
    retry_info_s,
    status_text,
)

HTTP_SPECIAL = {
    400: MalformedRequestError,
    401: UnauthenticatedError,
    403: UnauthenticatedError,
    413: RequestTooLargeError,
    415: UnsupportedEncodingError,
    429: RetryableError,
    502: RetryableError,
    503: RetryableError,
    504: RetryableError,
}
GRPC_SPECIAL = {
    "CANCELLED": RetryableError,
    "DEADLINE_EXCEEDED": RetryableError,
    "ABORTED": RetryableError,
    "OUT_OF_RANGE": RetryableError,
    "UNAVAILABLE": RetryableError,
    "DATA_LOSS": RetryableError,
    "INVALID_ARGUMENT": MalformedRequestError,
    "UNAUTHENTICATED": UnauthenticatedError,
    "PERMISSION_DENIED": UnauthenticatedError,
    "RESOURCE_EXHAUSTED": RequestTooLargeError,
}


@pytest.mark.parametrize("status", [*range(300, 309), *range(400, 432), 451, *range(500, 512), 599])
def test_every_http_status_has_its_error(status):
    error = http_error(status, server="The destination x", retry_after_s=3.0)

    assert type(error) is HTTP_SPECIAL.get(status, PermanentError)
    assert str(status) in str(error)
    if isinstance(error, RetryableError):
        assert error.retry_after_s == 3.0


@pytest.mark.parametrize("code", [code for code in grpc.StatusCode if code is not grpc.StatusCode.OK])
def test_every_grpc_code_has_its_error(code):
    error = grpc_error(code, server="The destination x")

    assert type(error) is GRPC_SPECIAL.get(code.name, PermanentError)
    assert code.name in str(error)


def test_resource_exhausted_is_retryable_only_with_retry_info():
    error = grpc_error(grpc.StatusCode.RESOURCE_EXHAUSTED, server="x", retry_after_s=0.0)

    assert type(error) is RetryableError
    assert error.retry_after_s == 0.0


NOW_S = 1_800_000_000


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        pytest.param(None, None, id="absent"),
        pytest.param("7", 7.0, id="seconds"),
        pytest.param(" 0 ", 0.0, id="zero"),
        pytest.param("9" * 400, 999_999_999.0, id="absurd"),
        pytest.param("-3", None, id="negative"),
        pytest.param("1.5", None, id="fraction"),
        pytest.param("²", None, id="digit_that_is_none"),
        pytest.param("soon", None, id="word"),
        pytest.param("", None, id="empty"),
        pytest.param(email.utils.formatdate(NOW_S + 90, usegmt=True), 90.0, id="date"),
        pytest.param(email.utils.formatdate(NOW_S + 90), 90.0, id="date_without_zone"),
        pytest.param(email.utils.formatdate(NOW_S - 90, usegmt=True), 0.0, id="date_in_the_past"),
        pytest.param("Mon, 99 Foo 2026 10:00:00 GMT", None, id="date_that_is_none"),
    ],
)
def test_retry_after_is_seconds_or_a_date(header, expected):
    assert retry_after_s(header, now_ns=NOW_S * 10**9) == expected


def status_with(*details, message=""):
    status = Status(code=14, message=message)
    for detail in details:
        status.details.add().Pack(detail)
    return status.SerializeToString()


def retry_info(nanoseconds):
    delay = Duration()
    delay.FromNanoseconds(nanoseconds)
    return RetryInfo(retry_delay=delay)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param(status_with(retry_info(2_500_000_000)), 2.5, id="delay"),
        pytest.param(status_with(DebugInfo(detail="x"), retry_info(10**9)), 1.0, id="after_another_detail"),
        pytest.param(status_with(RetryInfo()), 0.0, id="without_delay"),
        pytest.param(status_with(retry_info(-(10**9))), 0.0, id="negative"),
        pytest.param(status_with(DebugInfo(detail="x")), None, id="other_detail"),
        pytest.param(status_with(), None, id="none"),
        pytest.param(None, None, id="no_status"),
        pytest.param(b"\xff\xff\xff", None, id="garbage"),
        pytest.param(status_with(retry_info(10**9))[:-3], None, id="cut"),
    ],
)
def test_retry_info_is_found_in_a_status(status, expected):
    assert retry_info_s(status) == expected


def test_the_text_of_a_status_is_shortened_and_printable():
    text = status_text(status_with(message="no\x1b[31m\n" + "é" * 10_000))

    assert text.startswith("no [31m é")
    assert len(text) == MAX_TEXT
    assert text.isprintable()
    assert status_text(b"\xff\xff") == ""
    assert printable(b"\xff\xfeok") == "��ok"
