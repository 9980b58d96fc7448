from __future__ import annotations

from pathlib import Path

import pytest

from collector.errors import UnauthenticatedError
from exporters.registry import build_exporters
from tests.support.exporter_context import exporter_context
from tests.support.otlp_answers import Refuse
from tests.support.otlp_sink import OtlpSink
from tests.support.verdicts import REFUND_FAILED, SPAN_ID, TRACE_ID


async def test_events_have_what_live_evaluations_read(tmp_path: Path):
    async with OtlpSink() as sink:
        options = {"token": "lf-secret", "endpoint": sink.http_url}
        [exporter] = build_exporters("logfire", options, context=exporter_context(tmp_path))

        await exporter.export([REFUND_FAILED])
        await exporter.close()

    [request], [record] = sink.requests, sink.log_records
    found = {pair.key: pair.value for pair in record.attributes}
    assert request.path == "/v1/logs"
    assert request.headers["authorization"] == "lf-secret"
    assert (record.trace_id.hex(), record.span_id.hex()) == (TRACE_ID, SPAN_ID)
    assert record.event_name == "gen_ai.evaluation.result"
    assert found["gen_ai.evaluation.target"].string_value == "refunds"
    assert found["gen_ai.evaluation.name"].string_value == "task_adherence"
    assert found["gen_ai.evaluation.score.value"].double_value == 0.25
    assert found["gen_ai.evaluation.evaluator.version"].string_value == "1"


async def test_a_refused_token_is_in_no_message(tmp_path: Path):
    async with OtlpSink() as sink:
        sink.script.append(Refuse(http_status=401))
        options = {"token": "lf-secret", "endpoint": sink.http_url}
        [exporter] = build_exporters("logfire", options, context=exporter_context(tmp_path))

        with pytest.raises(UnauthenticatedError) as caught:
            await exporter.export([REFUND_FAILED])
        await exporter.close()

    assert "lf-secret" not in str(caught.value)
