from __future__ import annotations

import socket
from pathlib import Path

import grpc
import pytest

from collector.telemetry.jsonl import read_jsonl
from collector.telemetry.records import Signal
from tests.support.command_line import CommandLine
from tests.support.otlp_answers import Accept, Refuse
from tests.support.otlp_sink import OtlpSink
from tests.support.recordings import RECORDINGS, REFUND

PERMANENT = Refuse(http_status=400, grpc_code=grpc.StatusCode.INVALID_ARGUMENT, message="no such tenant")


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
async def test_every_request_arrives_in_order(adhere: CommandLine, protocol: str) -> None:
    files = list(RECORDINGS.values())
    requests = [request for file in files for request in read_jsonl(file)]
    async with OtlpSink() as sink:
        endpoint = sink.grpc_url if protocol == "grpc" else sink.http_url

        shown = await adhere.beside("replay", *files, "--endpoint", endpoint, "--protocol", protocol)

        assert shown.code == 0, shown.err
        assert [(request.signal, request.body) for request in sink.requests] == requests
        assert shown.out.startswith(f"{len(requests)} requests sent (")


async def test_headers_come_from_the_environment(adhere: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    async with OtlpSink() as sink:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", sink.http_url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=blue")

        shown = await adhere.beside("replay", REFUND)

        assert shown.code == 0
        assert {request.headers["x-tenant"] for request in sink.requests} == {"blue"}


async def test_a_refusal_is_told_and_does_not_stop_the_rest(adhere: CommandLine) -> None:
    async with OtlpSink() as sink:
        sink.script.extend([Accept(), PERMANENT])

        shown = await adhere.beside("replay", REFUND, "--endpoint", sink.http_url)

        assert shown.code == 1
        assert shown.out.startswith("3 requests sent (")
        assert "1 refused" in shown.out
        assert shown.err.startswith(f"Error: {sink.http_url} refused 1 requests; the first: ")
        assert "no such tenant" in shown.err
        assert len(sink.bodies(Signal.TRACES) + sink.bodies(Signal.LOGS)) == 3


async def test_a_busy_endpoint_is_asked_again(adhere: CommandLine) -> None:
    async with OtlpSink() as sink:
        sink.script.extend([Refuse(retry_after="0"), Refuse(retry_after="0")])

        shown = await adhere.beside("replay", REFUND, "--endpoint", sink.http_url)

        assert shown.code == 0
        assert shown.out.startswith("4 requests sent (")


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
async def test_certificates_and_schemes_that_cannot_work_are_refused(adhere: CommandLine, protocol: str) -> None:
    shown = await adhere.beside("replay", REFUND, "--endpoint", "ftp://127.0.0.1:1", "--protocol", protocol)

    assert shown.code == 2
    assert "--endpoint" in shown.err


async def test_an_endpoint_that_nobody_serves_ends_in_a_sentence(adhere: CommandLine, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    one = tmp_path / "one.jsonl"
    one.write_bytes(REFUND.read_bytes().splitlines(keepends=True)[0])

    shown = await adhere.beside("replay", one, "--endpoint", f"http://127.0.0.1:{port}", "--retry-for", "0")

    assert shown.code == 1
    assert f"The replay to http://127.0.0.1:{port} ended early: " in shown.err


def test_without_an_endpoint_the_option_is_named(adhere: CommandLine) -> None:
    shown = adhere("replay", REFUND)

    assert shown.code == 2
    assert "--endpoint" in shown.err
