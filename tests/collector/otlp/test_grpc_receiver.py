"""What only gRPC can meet: limits before the message is read, metadata, methods."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc

import grpc
import pytest
from prometheus_client import CollectorRegistry

from collector.otlp.settings import GrpcReceiverSettings, ReceiverLimits
from collector.telemetry.records import Signal
from tests.support.appender import BlockingAppender, CollectingAppender
from tests.support.otlp_requests import REQUESTS, nested_bytes, trace_request, trace_request_with_value
from tests.support.receivers import grpc_receiver
from tests.support.until import until

EXPORTS = {
    Signal.TRACES: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    Signal.LOGS: "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    Signal.METRICS: "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
}
TRACES = EXPORTS[Signal.TRACES]
LIMIT = 200_000
EMPTY = len(trace_request(padding=100_000)) - 100_000


def _channel(receiver):
    return grpc.aio.insecure_channel(f"127.0.0.1:{receiver.port}")


async def _refusal(channel, body, *, method=TRACES, **options):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await channel.unary_unary(method)(body, **options)
    return caught.value


def _has_retry_info(error):
    return any(key == "grpc-status-details-bin" for key, _ in error.trailing_metadata())


@pytest.mark.parametrize("signal", Signal)
async def test_each_signal_is_kept_as_sent(signal):
    appender = CollectingAppender()

    async with grpc_receiver(appender) as receiver, _channel(receiver) as channel:
        answer = await channel.unary_unary(EXPORTS[signal])(REQUESTS[signal])

    assert answer == b""
    assert appender.records == [(signal, REQUESTS[signal])]


async def test_an_empty_request_is_a_success_and_not_kept():
    appender = CollectingAppender()

    async with grpc_receiver(appender) as receiver, _channel(receiver) as channel:
        assert await channel.unary_unary(TRACES)(b"") == b""

    assert appender.records == []


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip], ids=["none", "gzip"])
async def test_the_limit_is_exact_at_the_byte(compression):
    appender, limits = CollectingAppender(), ReceiverLimits(max_request_bytes=LIMIT)
    exact = trace_request(padding=LIMIT - EMPTY)

    async with grpc_receiver(appender, limits=limits) as receiver, _channel(receiver) as channel:
        await channel.unary_unary(TRACES)(exact, compression=compression)
        error = await _refusal(channel, trace_request(padding=LIMIT - EMPTY + 1), compression=compression)
        await channel.unary_unary(TRACES)(exact)

    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert not _has_retry_info(error)
    assert [len(body) for _, body in appender.records] == [LIMIT, LIMIT]


@pytest.mark.parametrize(
    "body",
    [b"\xff" * 50, b"hello world", trace_request()[:-2], trace_request_with_value(nested_bytes(33))],
    ids=["noise", "text", "cut", "deep"],
)
async def test_garbage_is_an_invalid_argument_and_the_service_goes_on(body):
    async with grpc_receiver(CollectingAppender()) as receiver, _channel(receiver) as channel:
        error = await _refusal(channel, body)
        after = await channel.unary_unary(TRACES)(trace_request())

    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert not _has_retry_info(error)
    assert after == b""


async def test_requests_in_flight_are_bounded_with_a_hint_to_retry():
    appender, limits = BlockingAppender(), ReceiverLimits(max_concurrent_requests=1)

    async with grpc_receiver(appender, limits=limits) as receiver, _channel(receiver) as channel:
        first = channel.unary_unary(TRACES)(trace_request())
        await until(lambda: appender.waiting == 1)
        error = await _refusal(channel, trace_request())
        appender.release()
        await first

    assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert _has_retry_info(error)


async def test_bytes_in_flight_are_bounded():
    appender, limits = BlockingAppender(), ReceiverLimits(max_in_flight_bytes=150_000)
    body = trace_request(padding=100_000)

    async with grpc_receiver(appender, limits=limits) as receiver, _channel(receiver) as channel:
        first = channel.unary_unary(TRACES)(body)
        await until(lambda: appender.waiting == 1)
        error = await _refusal(channel, body)
        appender.release()
        await first
        await channel.unary_unary(TRACES)(body)

    assert error.code() is grpc.StatusCode.UNAVAILABLE


async def test_a_cancelled_call_gives_everything_back():
    appender = BlockingAppender()

    async with grpc_receiver(appender) as receiver, _channel(receiver) as channel:
        call = channel.unary_unary(TRACES)(trace_request())
        await until(lambda: appender.waiting == 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: appender.waiting == 0)

    assert appender.records == []


async def test_a_client_that_leaves_before_its_message_is_counted_and_no_error(caplog):
    registry = CollectorRegistry()

    def abandoned():
        return registry.get_sample_value("adhere_receiver_abandoned_requests_total", {"transport": "grpc"})

    async with grpc_receiver(CollectingAppender(), registry=registry) as receiver, _channel(receiver) as channel:
        while not abandoned():  # A call whose time is over before the server knows of it leaves no trace.
            assert await channel.stream_unary(TRACES)(timeout=0.05).code() is grpc.StatusCode.DEADLINE_EXCEEDED
        after = await channel.unary_unary(TRACES)(trace_request())

    assert after == b""
    assert caplog.records == []
    labels = {"transport": "grpc", "code": "invalid_argument"}
    assert registry.get_sample_value("adhere_receiver_refused_requests_total", labels) is None


async def test_a_call_that_sends_nothing_gives_its_place_back():
    limits, settings = ReceiverLimits(max_concurrent_requests=1), GrpcReceiverSettings(message_timeout_s=0.05)

    async with (
        grpc_receiver(CollectingAppender(), settings=settings, limits=limits) as receiver,
        _channel(receiver) as channel,
    ):
        silent = channel.stream_unary(TRACES)()
        code = await silent.code()
        after = await channel.unary_unary(TRACES)(trace_request())

    assert code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert after == b""


async def test_messages_that_arrive_at_one_time_are_bounded_and_the_next_waits_for_its_turn():
    settings = GrpcReceiverSettings(max_reading=1, message_timeout_s=0.2)

    async with grpc_receiver(CollectingAppender(), settings=settings) as receiver, _channel(receiver) as channel:
        silent = [channel.stream_unary(TRACES)() for _ in range(3)]
        after = await channel.unary_unary(TRACES)(trace_request())
        codes = [await call.code() for call in silent]

    assert after == b""
    assert codes == [grpc.StatusCode.DEADLINE_EXCEEDED] * 3


async def test_calls_that_send_nothing_do_not_keep_others_out():
    settings = GrpcReceiverSettings(max_reading=2, contended_timeout_s=0.05)

    async with grpc_receiver(CollectingAppender(), settings=settings) as receiver, _channel(receiver) as channel:
        silent = [channel.stream_unary(TRACES)() for _ in range(6)]
        after = await channel.unary_unary(TRACES)(trace_request())
        for call in silent:
            call.cancel()

    assert after == b""


async def test_more_calls_than_may_wait_for_their_turn_are_told_to_come_back():
    limits, settings = ReceiverLimits(max_concurrent_requests=1), GrpcReceiverSettings(max_reading=1)

    async with (
        grpc_receiver(CollectingAppender(), settings=settings, limits=limits) as receiver,
        _channel(receiver) as channel,
    ):
        silent = [channel.stream_unary(TRACES)() for _ in range(3)]
        refused = [await call.code() for call in await _first_done(silent)]
        for call in silent:
            call.cancel()

    assert refused == [grpc.StatusCode.UNAVAILABLE]


@pytest.mark.parametrize("is_refused", [False, True], ids=["taken", "refused"])
async def test_a_message_is_given_back_behind_its_answer(is_refused):
    """Without a collection of cycles: big messages would wait for it long."""
    size = 4 << 20
    body = trace_request(padding=size)
    limits = ReceiverLimits(max_in_flight_bytes=size // 2 if is_refused else 2 * size)

    appender = CollectingAppender()

    async with grpc_receiver(appender, limits=limits) as receiver, _channel(receiver) as channel:
        gc.collect()
        gc.disable()
        tracemalloc.start()
        try:
            for _ in range(8):
                call = channel.unary_unary(TRACES)(body)
                code = await call.code()
                appender.records.clear()
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
            gc.enable()

    assert (code is grpc.StatusCode.OK) is not is_refused
    assert held < 3 * size


async def test_an_unknown_method_is_unimplemented():
    async with grpc_receiver(CollectingAppender()) as receiver, _channel(receiver) as channel:
        error = await _refusal(channel, b"", method="/opentelemetry.proto.collector.trace.v1.TraceService/Other")

    assert error.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("token", [None, "Bearer wrong", "Basic secret"])
async def test_a_wrong_token_is_refused_before_the_message_is_read(token):
    appender, settings = CollectingAppender(), GrpcReceiverSettings(bearer_token="secret")
    # Over every limit: a receiver that read the message first would say so.
    limits = ReceiverLimits(max_request_bytes=1000)
    metadata = () if token is None else (("authorization", token),)

    async with grpc_receiver(appender, settings=settings, limits=limits) as receiver, _channel(receiver) as channel:
        error = await _refusal(channel, trace_request(padding=4 << 20), metadata=metadata)
        await channel.unary_unary(TRACES)(trace_request(), metadata=(("authorization", "Bearer secret"),))

    assert error.code() is grpc.StatusCode.UNAUTHENTICATED
    assert len(appender.records) == 1


async def test_connections_are_bounded():
    limits = ReceiverLimits(max_connections=1)
    local = [("grpc.use_local_subchannel_pool", 1)]

    async with grpc_receiver(CollectingAppender(), limits=limits) as receiver, _channel(receiver) as first:
        await first.unary_unary(TRACES)(trace_request())
        async with grpc.aio.insecure_channel(f"127.0.0.1:{receiver.port}", options=local) as second:
            error = await _refusal(second, trace_request(), timeout=5)
        await first.unary_unary(TRACES)(trace_request())

    assert error.code() is grpc.StatusCode.UNAVAILABLE


async def _first_done(calls):
    done = asyncio.Event()
    for call in calls:
        call.add_done_callback(lambda _: done.set())
    await done.wait()
    return [call for call in calls if call.done()]
