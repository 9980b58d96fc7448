"""Noise on both ports: only refusals, and the service goes on."""

from __future__ import annotations

import asyncio
import random

import grpc
import pytest

from collector.otlp.settings import HttpReceiverSettings
from collector.telemetry.records import Signal
from tests.support.appender import CollectingAppender
from tests.support.otlp_requests import REQUESTS, trace_request
from tests.support.raw_http import RawHttp, post, request
from tests.support.receivers import grpc_receiver, http_receiver

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


def _mutated(data, dice):
    data = bytearray(data)
    for _ in range(dice.randint(1, 6)):
        match dice.randrange(4):
            case 0:
                data[dice.randrange(len(data))] = dice.randrange(256)
            case 1:
                del data[dice.randrange(len(data)) :]
            case 2:
                start = dice.randrange(len(data) + 1)
                data[start:start] = dice.randbytes(dice.randint(1, 20))
            case 3:
                data += data[dice.randrange(len(data)) :] if data else b"\x00"
        if not data:
            data += b"\x00"
    return bytes(data)


@pytest.mark.parametrize("seed", range(3))
async def test_mutated_bodies_over_http_are_taken_or_refused(seed):
    dice = random.Random(seed)
    statuses = set()

    async with http_receiver(CollectingAppender()) as receiver:
        for _ in range(100):
            signal = dice.choice(list(Signal))
            options = {
                "content_type": dice.choice(["application/x-protobuf", "application/json"]),
                "headers": {"content-encoding": dice.choice(["identity", "gzip", "zstd", "deflate"])},
            }
            body = _mutated(REQUESTS[signal], dice)
            statuses.add((await post(receiver.port, f"/v1/{signal.value}", body, **options)).status)

        assert receiver.intake.admission.requests == 0
        assert (await post(receiver.port, "/v1/traces", trace_request())).status == 200

    assert statuses <= {200, 400, 415}
    assert 400 in statuses


@pytest.mark.parametrize("seed", range(3))
async def test_mutated_requests_never_wedge_http(seed):
    dice = random.Random(seed)
    whole = request("/v1/traces", trace_request())
    settings = HttpReceiverSettings(linger_s=0.01)

    async with http_receiver(CollectingAppender(), settings=settings) as receiver:
        for _ in range(60):
            async with RawHttp(receiver.port) as http:
                await http.send(_mutated(whole, dice))
                http.writer.write_eof()
                async with asyncio.timeout(5):
                    answer = await http.reader.read()
            assert answer == b"" or 200 <= int(answer.split(b" ")[1]) < 500
        assert (await post(receiver.port, "/v1/traces", trace_request())).status == 200
        assert receiver.intake.admission.requests == 0
        assert receiver.intake.admission.bytes == 0


async def test_mutated_messages_over_grpc_are_taken_or_refused():
    dice = random.Random(7)
    codes = set()

    async with (
        grpc_receiver(CollectingAppender()) as receiver,
        grpc.aio.insecure_channel(f"127.0.0.1:{receiver.port}") as channel,
    ):
        export = channel.unary_unary(EXPORT)
        for _ in range(150):
            try:
                await export(_mutated(trace_request(), dice))
            except grpc.aio.AioRpcError as err:
                codes.add(err.code())
        assert await export(trace_request()) == b""

    assert codes == {grpc.StatusCode.INVALID_ARGUMENT}
