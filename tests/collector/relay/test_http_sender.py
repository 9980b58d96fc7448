import asyncio
import email.utils

import pytest

from collector.errors import PermanentError, RetryableError
from collector.relay.destination import ClientTls, Destination
from collector.relay.http_client import MAX_ANSWER_BYTES
from collector.relay.http_sender import HttpSender
from collector.relay.senders import open_sender
from collector.telemetry.records import Signal
from tests.collector.relay.requests import trace_request
from tests.collector.relay.tls import TestAuthority
from tests.support.clock import ManualClock
from tests.support.otlp_answers import Accept, Hang, Refuse
from tests.support.otlp_sink import OtlpSink

BODY = trace_request("a")


async def send(sink, body=BODY, **settings):
    sender = open_sender(Destination(sink.http_url, name="sink", **settings), clock=ManualClock())
    try:
        await sender.send(Signal.TRACES, body)
    finally:
        await sender.close()


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
@pytest.mark.parametrize("padding", [100, 20_000], ids=["small", "large_in_a_thread"])
async def test_compression_is_declared_and_saves_bytes(compression, padding):
    body = trace_request(*(str(n) for n in range(20)), padding=padding)
    async with OtlpSink() as sink:
        await send(sink, body, compression=compression)

        (request,) = sink.requests
        assert request.headers["content-encoding"] == compression
        assert request.body == body
        assert request.wire_bytes < len(body) / 4


async def test_own_headers_cannot_be_overridden():
    async with OtlpSink() as sink:
        await send(sink, headers={"Content-Type": "text/plain", "content-encoding": "br", "User-Agent": "mine"})

        headers = sink.requests[0].headers
        assert headers["content-type"] == "application/x-protobuf"
        assert headers["user-agent"] == "mine"


async def test_redirects_are_not_followed():
    async with OtlpSink() as sink, OtlpSink() as elsewhere:
        sink.default = Refuse(http_status=307, headers={"location": f"{elsewhere.http_url}/v1/traces"})

        with pytest.raises(PermanentError, match="307"):
            await send(sink)

        assert elsewhere.requests == []


async def test_retry_after_may_be_a_date():
    async with OtlpSink() as sink:
        at_s = ManualClock().now_ns() // 10**9 + 60
        sink.default = Refuse(retry_after=email.utils.formatdate(at_s, usegmt=True))

        with pytest.raises(RetryableError) as caught:
            await send(sink)

        assert caught.value.retry_after_s == 60.0


async def test_an_answer_is_read_up_to_its_bound_only():
    async with OtlpSink() as sink:
        sink.script.extend(
            [Refuse(http_status=status, body=b"\n" * (MAX_ANSWER_BYTES + 4_000_000)) for status in (400, 200)]
        )

        with pytest.raises(PermanentError, match=r"answered 400 Bad Request\."):
            await send(sink)
        await send(sink)


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        pytest.param("application/json", b'{"code": 3, "message": "bad\\nspan"}', ": bad span.", id="json"),
        pytest.param("application/json", b"[" * 100_000, "Bad Request.", id="json_bomb"),
        pytest.param("application/json", b'["x"]', "Bad Request.", id="json_list"),
        pytest.param("text/html", b"<html>nginx</html>", "Bad Request.", id="html"),
        pytest.param("application/x-protobuf", b"<html>", "Bad Request.", id="no_protobuf"),
    ],
)
async def test_only_a_status_gives_text(content_type, body, expected):
    async with OtlpSink() as sink:
        sink.default = Refuse(http_status=400, body=body, headers={"content-type": content_type})

        with pytest.raises(PermanentError) as caught:
            await send(sink)

        assert str(caught.value).endswith(expected)


async def test_the_bound_is_for_the_whole_try_even_if_bytes_keep_coming():
    async def drip(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
        try:
            while True:
                writer.write(b"x")
                await asyncio.sleep(0.01)
        finally:
            writer.close()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    sender = open_sender(Destination(f"http://127.0.0.1:{port}", timeout_s=0.2))

    with pytest.raises(RetryableError, match="did not answer within"):
        await sender.send(Signal.TRACES, BODY)

    await sender.close()
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize(
    "answer",
    [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx", b"SSH-2.0-OpenSSH_9.2\r\n"],
    ids=["nothing", "half_an_answer", "another_protocol"],
)
async def test_a_broken_answer_is_retryable(answer):
    async def break_off(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(break_off, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    sender = open_sender(Destination(f"http://127.0.0.1:{port}"))

    with pytest.raises(RetryableError, match="cannot be reached"):
        await sender.send(Signal.TRACES, BODY)

    await sender.close()
    server.close()
    await server.wait_closed()


async def test_connections_are_kept_and_bounded():
    async with OtlpSink() as sink:
        sink.default = Hang()
        destination = Destination(sink.http_url)
        sender = HttpSender(destination, clock=ManualClock(), on_rejected=print, max_connections=3)
        async with asyncio.TaskGroup() as tasks:
            for _ in range(8):
                tasks.create_task(sender.send(Signal.TRACES, BODY))
            await sink.wait_for(lambda s: len(s.requests) == 3)
            sink.release()
        await sender.close()

        assert len(sink.traces) == 8


async def test_the_check_of_a_certificate_can_be_turned_off(tmp_path):
    async with OtlpSink(tls=TestAuthority.in_folder(tmp_path).server("elsewhere.example")) as sink:
        await send(sink, tls=ClientTls(insecure_skip_verify=True))

        assert len(sink.spans) == 1


async def test_an_answer_in_json_is_success_without_details():
    async with OtlpSink() as sink:
        sink.script.append(Refuse(http_status=202, body=b"{}", headers={"content-type": "application/json"}))
        sink.script.append(Accept())

        await send(sink)
        await send(sink)
