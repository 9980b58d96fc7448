"""The HTTP receiver's bounds: in bytes, in time, in numbers."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest
import zstandard

from collector.otlp.settings import HttpReceiverSettings, ReceiverLimits
from collector.telemetry.records import Signal
from tests.support.appender import BlockingAppender, CollectingAppender
from tests.support.clock import ManualClock
from tests.support.otlp_requests import trace_request
from tests.support.raw_http import RawHttp, post, request
from tests.support.receivers import http_receiver
from tests.support.until import until

LIMIT = 200_000
LIMITS = ReceiverLimits(max_request_bytes=LIMIT)
EMPTY = len(trace_request(padding=100_000)) - 100_000
EXACT = trace_request(padding=LIMIT - EMPTY)
OVER = trace_request(padding=LIMIT - EMPTY + 1)
BOMB_BYTES = 100 << 20


def _chunked(body):
    return b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


PACKED = {
    "identity": lambda body: body,
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("encoding", PACKED)
async def test_the_limit_is_exact_at_the_byte(encoding):
    assert (len(EXACT), len(OVER)) == (LIMIT, LIMIT + 1)
    appender = CollectingAppender()
    headers = {"content-encoding": encoding}

    async with http_receiver(appender, limits=LIMITS) as receiver:
        taken = await post(receiver.port, "/v1/traces", PACKED[encoding](EXACT), headers=headers)
        refused = await post(receiver.port, "/v1/traces", PACKED[encoding](OVER), headers=headers)

    assert (taken.status, refused.status) == (200, 413)
    assert "retry-after" not in refused.headers
    assert appender.bodies(Signal.TRACES) == [EXACT]


async def test_the_limit_is_exact_where_no_length_is_announced():
    head = b"POST /v1/traces HTTP/1.1\r\ncontent-type: application/x-protobuf\r\ntransfer-encoding: chunked\r\n\r\n"

    async with http_receiver(CollectingAppender(), limits=LIMITS) as receiver:
        for body, status in ((EXACT, 200), (OVER, 413)):
            async with RawHttp(receiver.port) as http:
                await http.send(head + _chunked(body))
                assert (await http.response()).status == status


async def test_a_client_that_goes_on_sending_a_giant_still_reads_the_refusal():
    giant = LIMIT * 40

    limits = ReceiverLimits(max_request_bytes=giant // 2)

    async with http_receiver(CollectingAppender(), limits=limits) as receiver, RawHttp(receiver.port) as http:
        await http.send(request("/v1/traces", b"", headers={"content-length": str(giant)}))
        await http.send(bytes(giant // 2))
        answer = await http.response()

    assert (answer.status, answer.headers["connection"]) == (413, "close")


def _gzip_bomb():
    return gzip.compress(bytes(BOMB_BYTES), 1)


def _zstd_bomb():
    return zstandard.ZstdCompressor().compress(bytes(BOMB_BYTES))


@pytest.mark.parametrize(("encoding", "bomb"), [("gzip", _gzip_bomb), ("zstd", _zstd_bomb)])
async def test_a_bomb_never_takes_more_than_the_limit(encoding, bomb):
    packed = bomb()
    limit = 8 << 20

    async with http_receiver(CollectingAppender(), limits=ReceiverLimits(max_request_bytes=limit)) as receiver:
        tracemalloc.start()
        try:
            answer = await post(receiver.port, "/v1/traces", packed, headers={"content-encoding": encoding})
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        held = receiver.intake.admission.bytes

    assert answer.status == 413
    assert peak < 2 * limit + 4 * len(packed) + (2 << 20)
    assert held == 0


@pytest.mark.parametrize(
    ("members", "status"), [(4096, 200), (200_000, 400)], ids=["as many as a compressor writes", "a crowd"]
)
async def test_members_of_a_gzip_body_are_bounded(members, status):
    packed = gzip.compress(b"") * members

    async with http_receiver(CollectingAppender()) as receiver:
        answer = await post(receiver.port, "/v1/traces", packed, headers={"content-encoding": "gzip"})
        after = await post(receiver.port, "/v1/traces", trace_request())

    assert (answer.status, after.status) == (status, 200)


async def test_a_wrong_token_with_a_big_body_is_refused_unread():
    body_bytes = 64 << 20
    settings = HttpReceiverSettings(bearer_token="secret")

    async with http_receiver(CollectingAppender(), settings=settings) as receiver, RawHttp(receiver.port) as http:
        await http.send(request("/v1/traces", bytes(1 << 20), headers={"content-length": str(body_bytes)}))
        answer = await http.response()
        held = receiver.intake.admission.bytes

    assert (answer.status, held) == (401, 0)


@pytest.mark.parametrize(
    "head",
    [
        b"POST /v1/traces HTTP/1.1\r\n" + b"x-header: value\r\n" * 3000 + b"\r\n",
        b"POST /v1/traces HTTP/1.1\r\nx-header: " + b"v" * 40_000,
        b"POST /" + b"p" * 40_000,
    ],
    ids=["many", "long", "long path"],
)
async def test_headers_are_bounded(head):
    async with http_receiver(CollectingAppender()) as receiver, RawHttp(receiver.port) as http:
        await http.send(head)
        answer = await http.response()

    assert (answer.status, answer.headers["connection"]) == (431, "close")


async def test_bytes_in_flight_are_bounded_over_all_requests():
    limits = ReceiverLimits(max_in_flight_bytes=150_000, retry_after_s=2)
    body = trace_request(padding=100_000)
    appender = BlockingAppender()

    async with http_receiver(appender, limits=limits) as receiver, RawHttp(receiver.port) as first:
        await first.send(request("/v1/traces", body))
        await until(lambda: appender.waiting == 1)
        refused = await post(receiver.port, "/v1/traces", body)
        appender.release()
        taken = await first.response()
        after = await post(receiver.port, "/v1/traces", body)

    assert (refused.status, refused.headers["retry-after"]) == (503, "2")
    assert (taken.status, after.status) == (200, 200)


async def test_what_a_small_body_inflates_to_counts_as_well():
    limits = ReceiverLimits(max_in_flight_bytes=150_000)
    packed = gzip.compress(trace_request(padding=160_000))

    async with http_receiver(CollectingAppender(), limits=limits) as receiver:
        answer = await post(receiver.port, "/v1/traces", packed, headers={"content-encoding": "gzip"})

        assert answer.status == 503
        assert receiver.intake.admission.bytes == 0


async def test_announcing_a_big_body_takes_nothing_from_others():
    limits = ReceiverLimits(max_in_flight_bytes=150_000)

    async with http_receiver(CollectingAppender(), limits=limits) as receiver, RawHttp(receiver.port) as slow:
        await slow.send(request("/v1/traces", b"x", headers={"content-length": "149999"}))
        answer = await post(receiver.port, "/v1/traces", trace_request(padding=100_000))

    assert answer.status == 200


async def test_requests_in_flight_are_bounded():
    appender, limits = BlockingAppender(), ReceiverLimits(max_concurrent_requests=1)

    async with http_receiver(appender, limits=limits) as receiver, RawHttp(receiver.port) as first:
        await first.send(request("/v1/traces", trace_request()))
        await until(lambda: appender.waiting == 1)
        refused = await post(receiver.port, "/v1/traces", trace_request())
        appender.release()
        taken = await first.response()

    assert (refused.status, refused.headers["retry-after"], taken.status) == (503, "1", 200)


async def test_connections_are_bounded():
    limits = ReceiverLimits(max_connections=2)

    async with (
        http_receiver(CollectingAppender(), limits=limits) as receiver,
        RawHttp(receiver.port),
        RawHttp(receiver.port) as second,
    ):
        await until(lambda: len(receiver.connections) == 2)
        refused = await post(receiver.port, "/v1/traces", trace_request())
        taken = await second.post("/v1/traces", trace_request())

    assert (refused.status, refused.headers["connection"]) == (503, "close")
    assert taken.status == 200


async def test_bodies_that_do_not_come_take_no_place():
    limits = ReceiverLimits(max_concurrent_requests=1)

    async with http_receiver(CollectingAppender(), limits=limits) as receiver, RawHttp(receiver.port) as slow:
        await slow.send(request("/v1/traces", b"abc", headers={"content-length": "50"}))
        await until(lambda: receiver.intake.admission.bytes == 3)

        assert (await post(receiver.port, "/v1/traces", trace_request())).status == 200


SLOW = {
    "nothing": (b"", None, 11),
    "slow headers": (b"POST /v1/tra", 408, 11),
    "slow body": (request("/v1/traces", b"abc", headers={"content-length": "50"}), 408, 61),
}


@pytest.mark.parametrize(("data", "status", "seconds"), SLOW.values(), ids=SLOW)
async def test_a_slow_client_is_cut_off(data, status, seconds):
    clock = ManualClock()

    async with http_receiver(CollectingAppender(), clock=clock) as receiver, RawHttp(receiver.port) as http:
        await until(lambda: len(receiver.connections) == 1)
        await http.send(data)
        await until(lambda: not data or not all(found.is_idle for found in receiver.connections))
        await clock.advance(seconds - 2)
        assert len(receiver.connections) == 1
        await clock.advance(2)
        if status is not None:
            assert (await http.response()).status == status
        assert await http.is_closed()
        held = receiver.intake.admission.requests
        http.writer.close()
        await until(lambda: not receiver.connections)

    assert held == 0


async def test_an_idle_connection_is_closed_after_its_time():
    clock = ManualClock()

    async with http_receiver(CollectingAppender(), clock=clock) as receiver, RawHttp(receiver.port) as http:
        await http.post("/v1/traces", trace_request())
        await clock.advance(74)
        await http.post("/v1/traces", trace_request())
        await clock.advance(76)

        assert await http.is_closed()


async def test_a_trickle_of_headers_does_not_buy_time():
    clock = ManualClock()

    async with http_receiver(CollectingAppender(), clock=clock) as receiver, RawHttp(receiver.port) as http:
        for byte in b"POST /v1/tr":
            await http.send(bytes([byte]))
            await until(lambda: not all(found.is_idle for found in receiver.connections))
            await clock.advance(1)

        assert (await http.response()).status == 408


async def test_a_slow_journal_is_no_slow_client():
    clock, appender = ManualClock(), BlockingAppender()

    async with http_receiver(appender, clock=clock) as receiver, RawHttp(receiver.port) as http:
        await http.send(request("/v1/traces", trace_request()))
        await until(lambda: appender.waiting == 1)
        await clock.advance(500)
        appender.release()

        assert (await http.response()).status == 200
