"""What the HTTP receiver takes and what it refuses, byte by byte."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest
import zstandard
from google.rpc.status_pb2 import Status
from prometheus_client import CollectorRegistry

from collector.otlp.settings import HttpReceiverSettings
from collector.telemetry.records import Signal
from tests.support.appender import CollectingAppender
from tests.support.otlp_requests import REQUESTS, nested_bytes, trace_request, trace_request_with_value
from tests.support.raw_http import RawHttp, post, request
from tests.support.receivers import http_receiver
from tests.support.until import until

BODY = trace_request()
PROTOBUF = "application/x-protobuf"
ENCODINGS = {
    "identity": lambda body: body,
    "gzip": gzip.compress,
    "GZIP": lambda body: gzip.compress(body[:10]) + gzip.compress(body[10:]),
    "deflate": zlib.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("signal", Signal)
async def test_each_signal_is_kept_as_sent(signal):
    appender = CollectingAppender()

    async with http_receiver(appender) as receiver:
        answer = await post(receiver.port, f"/v1/{signal.value}", REQUESTS[signal])

    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, b"", "application/x-protobuf")
    assert appender.records == [(signal, REQUESTS[signal])]


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_each_encoding_is_undone(encoding):
    appender = CollectingAppender()

    async with http_receiver(appender) as receiver:
        packed = ENCODINGS[encoding](BODY)
        answer = await post(receiver.port, "/v1/traces", packed, headers={"content-encoding": encoding})

    assert answer.status == 200
    assert appender.bodies(Signal.TRACES) == [BODY]


async def test_json_is_kept_as_protobuf_and_answered_in_json():
    appender = CollectingAppender()
    text = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"chat"}]}]}]}'

    async with http_receiver(appender) as receiver:
        answer = await post(receiver.port, "/v1/traces", text, content_type="application/json; charset=utf-8")

    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, b"{}", "application/json")
    assert appender.bodies(Signal.TRACES) == [bytes.fromhex("0a0a120812062a0463686174")]


@pytest.mark.parametrize(
    ("body", "content_type", "encoding"),
    [
        (b"", "application/x-protobuf", "identity"),
        (b"", "application/x-protobuf", "gzip"),
        (gzip.compress(b""), "application/x-protobuf", "gzip"),
        (b"{}", "application/json", "identity"),
        (b'{"resourceSpans":[]}', "application/json", "identity"),
        (b"\x0a\x00", "application/x-protobuf", "identity"),
    ],
)
async def test_an_empty_request_is_a_success_and_not_kept(body, content_type, encoding):
    appender = CollectingAppender()

    async with http_receiver(appender) as receiver:
        answer = await post(
            receiver.port, "/v1/traces", body, content_type=content_type, headers={"content-encoding": encoding}
        )

    assert answer.status == 200
    assert appender.records == []


REFUSED = {
    "garbage": (b"\xff" * 50, PROTOBUF, {}, 400),
    "text": (b"hello world, this is no protobuf", PROTOBUF, {}, 400),
    "json as protobuf": (b'{"resourceSpans":[]}', PROTOBUF, {}, 400),
    "protobuf as json": (BODY, "application/json", {}, 400),
    "cut": (BODY[:-3], PROTOBUF, {}, 400),
    "deep": (trace_request_with_value(nested_bytes(33)), PROTOBUF, {}, 400),
    "very deep": (trace_request_with_value(nested_bytes(9_000)), PROTOBUF, {}, 400),
    "brackets": (b"[" * 60_000, "application/json", {}, 400),
    "200k brackets": (gzip.compress(b"[" * 200_000), "application/json", {"content-encoding": "gzip"}, 400),
    "no gzip": (BODY, PROTOBUF, {"content-encoding": "gzip"}, 400),
    "cut gzip": (gzip.compress(BODY)[:-6], PROTOBUF, {"content-encoding": "gzip"}, 400),
    "wrong checksum": (gzip.compress(BODY)[:-8] + bytes(8), PROTOBUF, {"content-encoding": "gzip"}, 400),
    "gzip twice": (gzip.compress(gzip.compress(BODY)), PROTOBUF, {"content-encoding": "gzip"}, 400),
    "no zstd": (BODY, PROTOBUF, {"content-encoding": "zstd"}, 400),
    "cut zstd": (ENCODINGS["zstd"](BODY)[:-4], PROTOBUF, {"content-encoding": "zstd"}, 400),
    "unknown encoding": (BODY, PROTOBUF, {"content-encoding": "br"}, 415),
    "two encodings": (BODY, PROTOBUF, {"content-encoding": "gzip, gzip"}, 415),
    "unknown type": (BODY, "text/plain", {}, 415),
    "no type": (BODY, None, {}, 415),
}


@pytest.mark.parametrize(("body", "content_type", "headers", "status"), REFUSED.values(), ids=REFUSED)
async def test_a_bad_request_is_refused_and_the_connection_lives_on(body, content_type, headers, status):
    appender = CollectingAppender()

    async with http_receiver(appender) as receiver, RawHttp(receiver.port) as http:
        await http.send(request("/v1/traces", body, content_type=content_type, headers=headers))
        refused = await http.response()
        taken = await http.post("/v1/traces", BODY)

    assert refused.status == status
    assert _message(refused).endswith(".")
    assert "retry-after" not in refused.headers
    assert taken.status == 200
    assert appender.records == [(Signal.TRACES, BODY)]


def _message(answer):
    if answer.headers["content-type"] == "application/json":
        return json.loads(answer.body)["message"]
    return Status.FromString(answer.body).message


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/v1/profiles", 404),
        ("POST", "/", 404),
        ("POST", "/v1/traces/", 404),
        ("GET", "/v1/traces", 405),
        ("PUT", "/v1/logs", 405),
        ("HEAD", "/v1/traces", 405),
        ("OPTIONS", "/v1/traces", 405),
    ],
)
async def test_unknown_paths_and_methods(method, path, status):
    async with http_receiver(CollectingAppender()) as receiver, RawHttp(receiver.port) as http:
        await http.send(request(path, b"", method=method))
        head = await http.reader.readuntil(b"\r\n\r\n")

    assert f"HTTP/1.1 {status} ".encode() in head
    assert (b"allow: POST" in head) is (status == 405)


async def test_a_query_does_not_matter():
    async with http_receiver(CollectingAppender()) as receiver:
        assert (await post(receiver.port, "/v1/traces?a=b", BODY)).status == 200


async def test_a_target_with_scheme_and_host_is_taken():
    async with http_receiver(CollectingAppender()) as receiver:
        assert (await post(receiver.port, "http://adhere:4318/v1/traces?a=b", BODY)).status == 200
        assert (await post(receiver.port, "http://adhere:4318", BODY)).status == 404


@pytest.mark.parametrize(
    ("method", "path", "status"), [("POST", "/v1/traces", 200), ("POST", "/", 404), ("CONNECT", "adhere:4318", 404)]
)
async def test_an_offer_to_upgrade_changes_nothing(method, path, status):
    """Clients that would rather speak HTTP/2 offer it with their first request."""
    appender = CollectingAppender()
    offer = {"connection": "Upgrade, HTTP2-Settings", "upgrade": "h2c", "http2-settings": "AAMAAABkAAQAAP__"}

    async with http_receiver(appender) as receiver, RawHttp(receiver.port) as http:
        body = b"" if method == "CONNECT" else BODY
        await http.send(request(path, body, method=method, headers=offer) + request("/v1/traces", BODY))
        answers = [(await http.response()).status, (await http.response()).status]
        later = await http.post("/v1/traces", BODY)

    assert answers == [status, 200]
    assert later.status == 200
    assert appender.bodies(Signal.TRACES) == [BODY] * (2 + (status == 200))


@pytest.mark.parametrize("version", [b"HTTP/1.0", b"HTTP/1.1"])
async def test_an_offer_of_a_client_that_leaves_afterwards_changes_nothing(version):
    appender = CollectingAppender()
    asked = request("/v1/traces", BODY, headers={"connection": "close, Upgrade", "upgrade": "h2c"})

    async with http_receiver(appender) as receiver, RawHttp(receiver.port) as http:
        await http.send(asked.replace(b"HTTP/1.1", version, 1))
        answer = await http.response()
        is_closed = await http.is_closed()

    assert (answer.status, is_closed) == (200, True)
    assert appender.bodies(Signal.TRACES) == [BODY]


async def test_a_chunked_body_is_taken():
    appender = CollectingAppender()
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (BODY[:7], BODY[7:])) + b"0\r\n\r\n"
    head = b"POST /v1/traces HTTP/1.1\r\ncontent-type: application/x-protobuf\r\ntransfer-encoding: chunked\r\n\r\n"

    async with http_receiver(appender) as receiver, RawHttp(receiver.port) as http:
        await http.send(head + chunks)
        answer = await http.response()

    assert answer.status == 200
    assert appender.bodies(Signal.TRACES) == [BODY]


async def test_requests_sent_together_are_answered_in_order():
    appender = CollectingAppender()
    bodies = [trace_request(padding=size) for size in range(20)]

    async with http_receiver(appender) as receiver, RawHttp(receiver.port) as http:
        await http.send(b"".join(request("/v1/traces", body) for body in bodies) + request("/nowhere", b""))
        statuses = [(await http.response()).status for _ in range(21)]

    assert statuses == [200] * 20 + [404]
    assert appender.bodies(Signal.TRACES) == bodies


async def test_a_client_that_asks_first_is_told_to_go_on_or_refused():
    head = request("/v1/traces", b"", headers={"expect": "100-continue", "content-length": str(len(BODY))})

    async with http_receiver(CollectingAppender()) as receiver:
        async with RawHttp(receiver.port) as http:
            await http.send(head)
            assert (await http.reader.readuntil(b"\r\n\r\n")) == b"HTTP/1.1 100 Continue\r\n\r\n"
            await http.send(BODY)
            assert (await http.response()).status == 200
        async with RawHttp(receiver.port) as http:
            await http.send(head.replace(b"/v1/traces", b"/v1/other"))
            assert (await http.response()).status == 404


async def test_a_client_that_asks_behind_another_request_is_told_to_go_on_after_its_answer():
    head = request("/v1/traces", b"", headers={"expect": "100-continue", "content-length": str(len(BODY))})

    async with http_receiver(CollectingAppender()) as receiver, RawHttp(receiver.port) as http:
        await http.send(request("/v1/traces", BODY) + head)
        first = await http.response()
        told = await http.reader.readuntil(b"\r\n\r\n")
        await http.send(BODY)
        second = await http.response()

    assert (first.status, told, second.status) == (200, b"HTTP/1.1 100 Continue\r\n\r\n", 200)


async def test_a_client_of_http_1_0_is_told_nothing_before_its_answer():
    asked = request("/v1/traces", BODY, headers={"expect": "100-continue"}).replace(b"HTTP/1.1", b"HTTP/1.0", 1)

    async with http_receiver(CollectingAppender()) as receiver, RawHttp(receiver.port) as http:
        await http.send(asked)

        assert (await http.response()).status == 200


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GARBAGE\r\n\r\n",
        b"POST /v1/traces HTTP/9\r\n\r\n",
        b"POST /v1/traces HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        b"POST /v1/traces HTTP/1.1\r\nbad header\r\n\r\n",
        b"POST /v1/traces HTTP/1.1\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ids=["tls", "http2", "noise", "version", "length", "header", "two lengths"],
)
async def test_what_is_no_http_gets_400_and_the_connection_closes(data):
    async with http_receiver(CollectingAppender()) as receiver:
        async with RawHttp(receiver.port) as http:
            await http.send(data)
            answer = await http.response()
            closed = await http.is_closed()
        after = await post(receiver.port, "/v1/traces", BODY)

    assert (answer.status, answer.headers["connection"], closed) == (400, "close", True)
    assert after.status == 200


async def test_a_half_closed_client_still_gets_its_answer():
    async with http_receiver(CollectingAppender()) as receiver, RawHttp(receiver.port) as http:
        await http.send(request("/v1/traces", BODY))
        http.writer.write_eof()
        answer = await http.response()

    assert answer.status == 200


async def test_a_client_that_leaves_in_the_middle_gives_everything_back():
    async with http_receiver(CollectingAppender()) as receiver:
        admission = receiver.intake.admission
        async with RawHttp(receiver.port) as http:
            await http.send(request("/v1/traces", BODY, headers={"content-length": "1000"}))
            await until(lambda: admission.bytes == len(BODY))
        await until(lambda: admission.bytes == 0)

        assert admission.requests == 0


async def test_every_request_ends_in_one_counter():
    registry = CollectorRegistry()

    async with http_receiver(CollectingAppender(), registry=registry) as receiver:
        await post(receiver.port, "/v1/traces", trace_request() * 3)
        await post(receiver.port, "/v1/traces", b"")
        await post(receiver.port, "/v1/traces", b"garbage")
        await post(receiver.port, "/nowhere", b"")

    labels = {"transport": "http", "signal": "traces"}
    assert registry.get_sample_value("adhere_receiver_accepted_requests_total", labels) == 2
    assert registry.get_sample_value("adhere_receiver_accepted_items_total", labels) == 3
    assert registry.get_sample_value("adhere_receiver_accepted_bytes_total", labels) == 3 * len(BODY)
    for code in ("invalid_argument", "unimplemented"):
        labels = {"transport": "http", "code": code}
        assert registry.get_sample_value("adhere_receiver_refused_requests_total", labels) == 1
    assert registry.get_sample_value("adhere_receiver_in_flight_bytes") == 0


TOKEN = HttpReceiverSettings(bearer_token="open sesame")


@pytest.mark.parametrize("sent", [None, "Bearer wrong", "Basic open sesame", "open sesame", "Bearer", "Bearer é"])
async def test_a_wrong_token_is_refused_before_anything_else(sent):
    appender = CollectingAppender()
    headers = {} if sent is None else {"authorization": sent}

    async with http_receiver(appender, settings=TOKEN) as receiver:
        answer = await post(receiver.port, "/v1/nowhere", BODY, headers=headers)

    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert appender.records == []


async def test_the_right_token_is_taken_whatever_the_case_of_its_scheme():
    async with http_receiver(CollectingAppender(), settings=TOKEN) as receiver:
        answer = await post(receiver.port, "/v1/traces", BODY, headers={"authorization": "bearer open sesame"})

    assert answer.status == 200
