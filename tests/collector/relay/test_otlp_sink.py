"""The sink itself, driven by the official exporters' clients: a double that many tests lean on is tested first."""

import asyncio

import grpc
import httpx2
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub

from tests.support.otlp_answers import Accept, Disconnect, Hang, Refuse
from tests.support.otlp_sink import OtlpSink

PROTOBUF = {"content-type": "application/x-protobuf"}


def traces(name: str) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.add(name=name)
    return request


async def test_both_transports_are_recorded_with_headers_and_bodies():
    async with OtlpSink() as sink, httpx2.AsyncClient(trust_env=False) as client:
        await client.post(
            f"{sink.http_url}/v1/traces", content=traces("a").SerializeToString(), headers={**PROTOBUF, "x-tenant": "t"}
        )
        async with grpc.aio.insecure_channel(f"127.0.0.1:{sink.grpc_port}") as channel:
            await TraceServiceStub(channel).Export(traces("b"), metadata=(("x-tenant", "u"),))

        await sink.wait_for(lambda s: len(s.spans) == 2)

        assert [span.name for span in sink.spans] == ["a", "b"]
        assert [request.headers["x-tenant"] for request in sink.requests] == ["t", "u"]
        assert [request.transport for request in sink.requests] == ["http", "grpc"]


async def test_http_answers_follow_the_script_then_the_default():
    async with OtlpSink() as sink, httpx2.AsyncClient(trust_env=False) as client:
        sink.script.extend([Refuse(http_status=429, retry_after="7", message="slow down"), Accept(rejected=2)])
        url, body = f"{sink.http_url}/v1/traces", traces("a").SerializeToString()

        refused = await client.post(url, content=body, headers=PROTOBUF)
        partial = await client.post(url, content=body, headers=PROTOBUF)
        full = await client.post(url, content=body, headers=PROTOBUF)

        assert (refused.status_code, refused.headers["retry-after"]) == (429, "7")
        assert Status.FromString(refused.content).message == "slow down"
        assert ExportTraceServiceResponse.FromString(partial.content).partial_success.rejected_spans == 2
        assert full.content == b""
        assert len(sink.traces) == 2


async def test_a_disconnect_gives_no_answer_and_can_keep_the_request():
    async with OtlpSink() as sink, httpx2.AsyncClient(trust_env=False) as client:
        sink.script.extend([Disconnect(), Disconnect(stored=True)])
        url, body = f"{sink.http_url}/v1/traces", traces("a").SerializeToString()

        for _ in range(2):
            with pytest.raises(httpx2.RemoteProtocolError):
                await client.post(url, content=body, headers=PROTOBUF)

        assert len(sink.requests) == 2
        assert len(sink.traces) == 1


async def test_a_hanging_request_is_answered_on_release():
    async with OtlpSink() as sink, httpx2.AsyncClient(trust_env=False) as client:
        sink.default = Hang()
        post = client.post(f"{sink.http_url}/v1/traces", content=traces("a").SerializeToString(), headers=PROTOBUF)
        sending = asyncio.ensure_future(post)
        await sink.wait_for(lambda s: len(s.requests) == 1)
        assert not sending.done()

        sink.release()

        assert (await sending).status_code == 200


async def test_grpc_refusals_carry_retry_info():
    async with OtlpSink() as sink, grpc.aio.insecure_channel(f"127.0.0.1:{sink.grpc_port}") as channel:
        sink.default = Refuse(grpc_code=grpc.StatusCode.RESOURCE_EXHAUSTED, retry_info_s=1.5)

        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await TraceServiceStub(channel).Export(traces("a"))

        status = Status.FromString(dict(caught.value.trailing_metadata())["grpc-status-details-bin"])
        info = RetryInfo()
        status.details[0].Unpack(info)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert info.retry_delay.ToNanoseconds() == 1_500_000_000


async def test_an_unfulfilled_wait_names_what_arrived():
    async with OtlpSink() as sink:
        with pytest.raises(AssertionError, match="0 requests"):
            await sink.wait_for(lambda s: len(s.spans) == 1, timeout_s=0.01)
