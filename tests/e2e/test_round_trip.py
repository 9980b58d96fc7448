"""What Adhere sends comes back to it under a name that is not known for its own: it is refused, and the round ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from adhere.run.data_dir import DataDir
from collector.errors import PermanentError
from collector.otlp.settings import GrpcReceiverSettings, HttpReceiverSettings
from exporters.registry import build_exporters
from tests.support.adhere_process import AdhereProcess
from tests.support.appender import CollectingAppender
from tests.support.exporter_context import exporter_context
from tests.support.forwarder import forwarding
from tests.support.otlp_requests import trace_request
from tests.support.raw_http import post
from tests.support.receivers import grpc_receiver, http_receiver
from tests.support.running_adhere import write_config
from tests.support.until import until
from tests.support.verdicts import verdict

LONG_S = 150.0


async def test_a_relay_that_leads_back_ends_at_the_receiver(tmp_path: Path) -> None:
    data = DataDir(tmp_path / "data")

    def own_port() -> int:
        found = data.read_addresses()
        assert found is not None
        return urlsplit(f"//{found.http}").port or 0

    async with forwarding(own_port) as port:
        relay = {"name": "round", "endpoint": f"http://127.0.0.1:{port}"}
        async with AdhereProcess(write_config(tmp_path, relay=[relay]), role="collector") as adhere:
            await adhere.ready()
            taken = await post(own_port(), "/v1/traces", trace_request())
            await until(lambda: any((data.dead_letters / "round").glob("*.otlp")), timeout_s=LONG_S)
            assert await adhere.terminate() == 0

    assert taken.status == 200
    [letter] = (data.dead_letters / "round").glob("*.otlp")
    assert letter.read_bytes() == trace_request()
    assert "508 Loop Detected: This request comes from this very Adhere; give its relay" in adhere.output()


@pytest.mark.parametrize("transport", ["http", "grpc"])
async def test_scores_that_lead_back_are_refused_and_those_of_others_are_not(tmp_path: Path, transport: str) -> None:
    appender = CollectingAppender()
    receiving = (
        http_receiver(appender, settings=HttpReceiverSettings(sender_id="a" * 16))
        if transport == "http"
        else grpc_receiver(appender, settings=GrpcReceiverSettings(sender_id="a" * 16))
    )
    async with receiving as receiver:
        options = {
            "endpoint": f"http://127.0.0.1:{receiver.port}",
            "protocol": "grpc" if transport == "grpc" else "http/protobuf",
            "spans": False,
            "metrics": False,
        }
        for sender in ("a" * 16, "b" * 16):
            context = replace(exporter_context(tmp_path), sender_id=sender)
            [exporter] = build_exporters("otlp", options, context=context)
            try:
                if sender == "a" * 16:
                    with pytest.raises(PermanentError, match="comes from this very Adhere"):
                        await exporter.export([verdict()])
                else:
                    await exporter.export([verdict()])
            finally:
                await exporter.close()

    assert len(appender.records) == 1
