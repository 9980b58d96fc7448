import asyncio

import grpc
import pytest

from collector.errors import RequestTooLargeError, RetryableError
from collector.relay.destination import Destination
from collector.relay.senders import open_sender
from collector.telemetry.records import Signal
from tests.collector.relay.requests import log_request, trace_request
from tests.support.otlp_answers import Refuse
from tests.support.otlp_sink import OtlpSink

BODY = trace_request("a")


def grpc_destination(url, **settings):
    return Destination(url, protocol="grpc", name="sink", **settings)


async def send(url, body=BODY, **settings):
    sender = open_sender(grpc_destination(url, **settings))
    try:
        await sender.send(Signal.TRACES, body)
    finally:
        await sender.close()


@pytest.mark.parametrize(
    ("retry_info_s", "expected"), [(None, RequestTooLargeError), (2.5, RetryableError)], ids=["without", "with"]
)
async def test_resource_exhausted_depends_on_retry_info(retry_info_s, expected):
    async with OtlpSink() as sink:
        sink.default = Refuse(grpc_code=grpc.StatusCode.RESOURCE_EXHAUSTED, retry_info_s=retry_info_s)

        with pytest.raises(expected) as caught:
            await send(sink.grpc_url)

        assert getattr(caught.value, "retry_after_s", None) == retry_info_s


async def test_over_the_servers_own_limit_is_too_large():
    async with OtlpSink(grpc_max_receive_bytes=4 << 20) as sink:
        with pytest.raises(RequestTooLargeError, match="larger than max"):
            await send(sink.grpc_url, trace_request("a", padding=5 << 20))


async def test_a_server_that_hangs_up_is_retryable():
    async def hang_up(_, writer):
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)

    with pytest.raises(RetryableError, match="UNAVAILABLE"):
        await send(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")

    server.close()
    await server.wait_closed()


async def test_a_server_that_comes_back_is_found_by_the_same_sender():
    async with OtlpSink() as sink:
        port, url = sink.grpc_port, sink.grpc_url
        sender = open_sender(grpc_destination(url))
        await sender.send(Signal.TRACES, BODY)
    with pytest.raises(RetryableError):
        await sender.send(Signal.TRACES, BODY)

    async with OtlpSink(grpc_port=port) as sink:
        for _ in range(100):
            try:
                await sender.send(Signal.TRACES, BODY)
                break
            except RetryableError:
                await asyncio.sleep(0.05)
        await sender.close()

        assert len(sink.traces) == 1


async def test_compressed_requests_are_smaller_on_the_wire():
    sizes = {}
    forwarding = []
    async with OtlpSink() as sink:
        for compression in ("none", "gzip"):
            seen = 0

            async def forward(reader, writer):
                forwarding.append(asyncio.current_task())
                up_reader, up_writer = await asyncio.open_connection("127.0.0.1", sink.grpc_port)

                async def pump(source, target, *, counts):
                    nonlocal seen
                    while data := await source.read(1 << 16):
                        seen += len(data) if counts else 0
                        target.write(data)
                    target.close()
                    await target.wait_closed()

                await asyncio.gather(
                    pump(reader, up_writer, counts=True), pump(up_reader, writer, counts=False), return_exceptions=True
                )

            server = await asyncio.start_server(forward, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            await send(f"http://127.0.0.1:{port}", trace_request("a", padding=100_000), compression=compression)
            server.close()
            await server.wait_closed()
            await asyncio.gather(*forwarding)
            sizes[compression] = seen

    assert sizes["none"] > 100_000
    assert sizes["gzip"] < 10_000


async def test_each_signal_can_have_a_server_of_its_own():
    async with OtlpSink() as traces, OtlpSink() as logs:
        destination = Destination(
            protocol="grpc", signal_endpoints={Signal.TRACES: traces.grpc_url, Signal.LOGS: logs.grpc_url}
        )
        sender = open_sender(destination)

        await sender.send(Signal.TRACES, BODY)
        await sender.send(Signal.LOGS, log_request("a"))
        await sender.close()

        assert [len(traces.spans), len(traces.log_records)] == [1, 0]
        assert [len(logs.spans), len(logs.log_records)] == [0, 1]
