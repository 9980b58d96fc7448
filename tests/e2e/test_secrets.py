"""Secrets and content stay where they belong, at debug level and on the ways of failure (S10, S11, S12)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import grpc
import grpc.aio
import httpx2
import pytest

from tests.support.adhere_process import AdhereProcess
from tests.support.agent_telemetry import AgentTelemetry, trace_body
from tests.support.command_line import run_adhere
from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import Reply, answer, error
from tests.support.judge_server import JudgeServer
from tests.support.otlp_answers import Refuse
from tests.support.otlp_grpc_listener import SERVICES
from tests.support.otlp_sink import OtlpSink
from tests.support.running_adhere import write_config
from tests.support.until import until

pytestmark = pytest.mark.timeout(600)

JUDGE_KEY, JUDGE_HEADER = "canary-judge-key-1", "canary-judge-header-2"
RELAY_HEADER, RELAY_PASSWORD = "canary-relay-header-3", "canary-relay-password-4"
EXPORT_HEADER, BEARER, WRONG_BEARER = "canary-export-header-5", "canary-bearer-6", "canary-wrong-bearer-7"
REQUEST_HEADER = "canary-request-header-8"
SECRETS = (JUDGE_KEY, JUDGE_HEADER, RELAY_HEADER, RELAY_PASSWORD, EXPORT_HEADER, BEARER, WRONG_BEARER, REQUEST_HEADER)
CONTENT = "canary-content-9"
LONG_S = 150.0
METHOD = f"/{next(iter(SERVICES.values()))}/Export"
PROTOBUF = {"content-type": "application/x-protobuf"}


def faulty_judge(call: JudgeCall) -> Reply:
    """Refuses, showing the key as some servers do; then chats about what it was shown."""
    if call.number % 2 == 0:
        return error(401, f"Incorrect API key provided: {call.headers.get('authorization')}.", code="invalid_api_key")
    return answer(f"I was shown {call.text[:2000]}")


def conversation() -> bytes:
    agent = AgentTelemetry(conversation_id="c-1", name="c-1", system=f"Keep {CONTENT} to yourself.")
    return trace_body(agent.turn(f"order {CONTENT}", answer=f"It is {CONTENT}."))


async def send_over_http(
    address: str, body: bytes, *, bearer: str, content_type: str = "application/x-protobuf"
) -> int:
    headers = {"authorization": f"Bearer {bearer}", "x-tenant": REQUEST_HEADER, "baggage": f"user={REQUEST_HEADER}"}
    async with httpx2.AsyncClient(trust_env=False) as client:
        sent = await client.post(
            f"http://{address}/v1/traces", content=body, headers={**headers, "content-type": content_type}
        )
        return sent.status_code


async def send_over_grpc(address: str, body: bytes, *, bearer: str) -> grpc.StatusCode:
    metadata = (("authorization", f"Bearer {bearer}"), ("x-tenant", REQUEST_HEADER))
    async with grpc.aio.insecure_channel(address) as channel:
        try:
            await channel.unary_unary(METHOD)(body, metadata=metadata, timeout=20)
        except grpc.aio.AioRpcError as err:
            return err.code()
    return grpc.StatusCode.OK


async def pages(telemetry: str) -> Mapping[str, str]:
    async with httpx2.AsyncClient(trust_env=False) as client:
        return {
            path: (await client.get(f"http://{telemetry}{path}")).text for path in ("/metrics", "/healthz", "/readyz")
        }


async def test_no_secret_and_no_content_is_shown(tmp_path: Path) -> None:
    denied = Refuse(http_status=401, message=f"No {RELAY_HEADER} may say {CONTENT}")
    with JudgeServer(faulty_judge) as judge:
        async with OtlpSink() as refusing, OtlpSink() as failing, OtlpSink() as taking, OtlpSink() as scores:
            refusing.default = denied
            failing.default = Refuse(http_status=500, message=f"No: {CONTENT}")
            scores.default = Refuse(http_status=400, message=f"Unknown key {EXPORT_HEADER}")
            guard = {"endpoint": "127.0.0.1:0", "bearer_token": BEARER}
            with_password = refusing.http_url.replace("://", f"://user:{RELAY_PASSWORD}@")
            config = write_config(
                tmp_path,
                receivers={"grpc": guard, "http": guard},
                telemetry={"endpoint": "127.0.0.1:0", "logs": {"level": "debug", "format": "json"}},
                relay=[
                    {"name": "refusing", "endpoint": with_password, "headers": {"x-key": RELAY_HEADER}},
                    {"name": "failing", "endpoint": failing.http_url, "headers": {"x-key": RELAY_HEADER}},
                    {"name": "nobody", "endpoint": "http://127.0.0.1:1", "headers": {"x-key": RELAY_HEADER}},
                    {"name": "taking", "endpoint": taking.grpc_url, "protocol": "grpc"},
                ],
                judge={
                    "base_url": judge.base_url,
                    "api_key": JUDGE_KEY,
                    "headers": {"x-gateway": JUDGE_HEADER},
                    "deadline_s": 5,
                },
                evaluators=["rules", {"task_adherence": {"on": "turn"}}, {"role_adherence": {"on": "turn"}}],
                exporters=["prometheus", {"otlp": {"endpoint": scores.http_url, "headers": {"x-key": EXPORT_HEADER}}}],
                shutdown_s=5,
            )
            async with AdhereProcess(config) as adhere:
                addresses = await adhere.ready()
                http, rpc, telemetry = str(addresses.http), str(addresses.grpc), str(addresses.telemetry)
                broken = conversation()[:-7]

                assert await send_over_http(http, conversation(), bearer=BEARER) == 200
                assert await send_over_http(http, conversation(), bearer=WRONG_BEARER) == 401
                assert await send_over_http(http, broken, bearer=BEARER) == 400
                json_like = f'{{"resourceSpans": "{CONTENT}"}}'.encode()
                assert await send_over_http(http, json_like, bearer=BEARER, content_type="application/json") == 400
                assert await send_over_http(http, b"x", bearer=BEARER, content_type=f"text/{CONTENT}") == 415
                assert await send_over_grpc(rpc, conversation(), bearer=BEARER) is grpc.StatusCode.OK
                assert await send_over_grpc(rpc, conversation(), bearer=WRONG_BEARER) is grpc.StatusCode.UNAUTHENTICATED
                assert await send_over_grpc(rpc, broken, bearer=BEARER) is grpc.StatusCode.INVALID_ARGUMENT
                await taking.wait_for(lambda s: len(s.spans) >= 8, timeout_s=LONG_S)
                await refusing.wait_for(lambda s: bool(s.requests), timeout_s=LONG_S)
                await failing.wait_for(lambda s: bool(s.requests), timeout_s=LONG_S)
                await scores.wait_for(lambda s: bool(s.requests), timeout_s=LONG_S)
                await until(lambda: len(judge.calls) >= 4, timeout_s=LONG_S, every_s=0.1)
                async with asyncio.timeout(LONG_S):
                    while "adhere_judging_decisions_total{" not in (shown := await pages(telemetry))["/metrics"]:
                        await asyncio.sleep(0.2)
                explained = await run_adhere("explain", "c-1", "--config", config)
                state = {name: read(tmp_path / "data" / name) for name in ("addresses.json", "evaluator.port")}
                assert await adhere.terminate() == 0

            output = adhere.output()
            hits = {
                (where, canary)
                for where, text in {"log": output, **shown, **state}.items()
                for canary in (*SECRETS, CONTENT)
                if canary in text
            }
            assert hits == set()
            assert [canary for canary in SECRETS if canary in explained.out + explained.err] == []
            assert output.count("\n") > 10, "there was a log to look through"
            assert {call.headers.get("authorization") for call in judge.calls} == {f"Bearer {JUDGE_KEY}"}
            assert {call.headers.get("x-gateway") for call in judge.calls} == {JUDGE_HEADER}
            assert {request.headers["x-key"] for request in [*refusing.requests, *failing.requests]} == {RELAY_HEADER}
            assert {request.headers["x-key"] for request in scores.requests} == {EXPORT_HEADER}
            sent_on = [*taking.requests, *refusing.requests, *scores.requests]
            given_on = [str(request.headers) for request in sent_on] + [str(call.headers) for call in judge.calls]
            assert not [headers for headers in given_on if REQUEST_HEADER in headers or BEARER in headers]


def read(path: Path) -> str:
    return path.read_text()
