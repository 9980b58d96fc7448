"""Starting and stopping: nothing in flight is lost or cut, within the time given."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from collector.otlp.grpc import GrpcReceiver
from collector.otlp.http import HttpReceiver
from collector.otlp.settings import GrpcReceiverSettings, HttpReceiverSettings
from tests.support.appender import BlockingAppender, CollectingAppender
from tests.support.otlp_requests import trace_request
from tests.support.raw_http import RawHttp, request
from tests.support.receivers import grpc_receiver, http_receiver, intake_for
from tests.support.until import until

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
BODY = trace_request()


def _receivers(appender):
    intake = intake_for(appender)
    return (
        HttpReceiver(HttpReceiverSettings(port=0), intake=intake),
        GrpcReceiver(GrpcReceiverSettings(port=0), intake=intake),
    )


async def test_start_and_shutdown_are_safe_twice_and_in_any_order():
    for receiver in _receivers(CollectingAppender()):
        await receiver.shutdown(1)
        await receiver.start()
        port = receiver.port
        await receiver.start()
        assert port == receiver.port != 0
        await receiver.shutdown(1)
        await receiver.shutdown(1)

        with pytest.raises(OSError):
            await asyncio.open_connection("127.0.0.1", port)


async def test_a_taken_port_is_an_error():
    http, rpc = _receivers(CollectingAppender())
    await http.start()
    await rpc.start()
    intake = intake_for(CollectingAppender())
    try:
        with pytest.raises(OSError, match="in use"):
            await HttpReceiver(HttpReceiverSettings(port=http.port), intake=intake).start()
        with pytest.raises(OSError, match="in use"):
            await GrpcReceiver(GrpcReceiverSettings(port=rpc.port), intake=intake).start()
    finally:
        await http.shutdown(1)
        await rpc.shutdown(1)


async def test_http_answers_what_is_in_flight_and_closes_what_is_idle():
    appender = BlockingAppender()

    async with (
        http_receiver(appender) as receiver,
        RawHttp(receiver.port) as busy,
        RawHttp(receiver.port) as arriving,
        RawHttp(receiver.port) as idle,
    ):
        await busy.send(request("/v1/traces", BODY))
        whole = request("/v1/traces", BODY)
        await arriving.send(whole[:-5])
        await until(lambda: appender.waiting == 1 and receiver.intake.admission.bytes == 2 * len(BODY) - 5)
        stopping = asyncio.create_task(receiver.shutdown(10))
        assert await idle.is_closed()
        with pytest.raises(OSError):
            await asyncio.open_connection("127.0.0.1", receiver.port)
        await arriving.send(whole[-5:])
        await until(lambda: appender.waiting == 2)
        appender.release()
        answers = [await busy.response(), await arriving.response()]
        assert await busy.is_closed()
        assert await arriving.is_closed()
        await stopping

    assert [(answer.status, answer.headers["connection"]) for answer in answers] == [(200, "close")] * 2
    assert len(appender.records) == 2


async def test_http_leaves_at_the_deadline_without_an_acknowledgement():
    appender = BlockingAppender()

    async with http_receiver(appender) as receiver, RawHttp(receiver.port) as http:
        await http.send(request("/v1/traces", BODY))
        await until(lambda: appender.waiting == 1)
        await receiver.shutdown(0.05)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await http.response()

    assert appender.waiting == 0
    assert appender.records == []
    assert receiver.intake.admission.requests == 0


async def test_grpc_answers_what_is_in_flight():
    appender = BlockingAppender()

    async with (
        grpc_receiver(appender) as receiver,
        grpc.aio.insecure_channel(f"127.0.0.1:{receiver.port}") as channel,
    ):
        call = channel.unary_unary(EXPORT)(BODY)
        await until(lambda: appender.waiting == 1)
        stopping = asyncio.create_task(receiver.shutdown(10))
        await asyncio.sleep(0)
        appender.release()

        assert await call == b""
        await stopping


async def test_grpc_leaves_at_the_deadline_without_an_acknowledgement():
    appender = BlockingAppender()

    async with (
        grpc_receiver(appender) as receiver,
        grpc.aio.insecure_channel(f"127.0.0.1:{receiver.port}") as channel,
    ):
        call = channel.unary_unary(EXPORT)(BODY)
        await until(lambda: appender.waiting == 1)
        await receiver.shutdown(0.05)

        with pytest.raises(grpc.aio.AioRpcError):
            await call

    await until(lambda: appender.waiting == 0)
    assert appender.records == []
