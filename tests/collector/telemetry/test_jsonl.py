"""Files as the OpenTelemetry Collector's file exporter writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.errors import MalformedRequestError, RequestTooLargeError
from collector.telemetry.decode import decode_logs, decode_traces
from collector.telemetry.json_decode import json_to_protobuf
from collector.telemetry.json_encode import protobuf_to_json
from collector.telemetry.jsonl import read_jsonl
from collector.telemetry.records import Signal
from tests.support.otlp_requests import REQUESTS

CORPUS = Path(__file__).parents[3].parent / "shared" / "corpus"


def _write(path, *lines):
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def test_each_line_names_its_signal(tmp_path):
    lines = [protobuf_to_json(signal, body) for signal, body in REQUESTS.items()]
    path = _write(tmp_path / "all.jsonl", *lines, b"", b"  ")

    assert list(read_jsonl(path)) == list(REQUESTS.items())


def test_a_line_in_protobufs_own_json_form_is_read(tmp_path):
    record = b'{"event_name":"e","severity_number":"SEVERITY_NUMBER_INFO"}'
    line = b'{"resource_logs":[{"scope_logs":[{"log_records":[' + record + b"]}]}]}"

    ((signal, body),) = read_jsonl(_write(tmp_path / "own.jsonl", line))

    assert (signal, [record.event_name for record in decode_logs(body)]) == (Signal.LOGS, ["e"])


@pytest.mark.parametrize(
    "line",
    [b"{", b"{}", b"[]", b'{"resourceSpans":[],"resourceLogs":[]}', b'{"resourceSpans":3}'],
    ids=["cut", "empty", "array", "two signals", "wrong type"],
)
def test_a_bad_line_is_named_with_its_file(tmp_path, line):
    good = protobuf_to_json(Signal.TRACES, REQUESTS[Signal.TRACES])
    path = _write(tmp_path / "bad.jsonl", good, line)
    lines = read_jsonl(path)
    next(lines)

    with pytest.raises(MalformedRequestError, match=r"Line 2 of .*bad\.jsonl"):
        next(lines)


def test_a_line_over_the_limit_is_not_read_into_memory(tmp_path):
    path = _write(tmp_path / "long.jsonl", b"x" * 1000)

    with pytest.raises(RequestTooLargeError, match="Line 1"):
        list(read_jsonl(path, max_line_bytes=999))


@pytest.mark.corpus
def test_every_capture_is_read_and_survives_the_way_back():
    files = sorted(CORPUS.rglob("*.jsonl"))
    if not files:
        pytest.skip("the folder of captures is not beside this checkout")
    items = 0

    for file in files[::4]:
        for signal, body in read_jsonl(file):
            assert json_to_protobuf(signal, protobuf_to_json(signal, body)) == body
            if signal is Signal.TRACES:
                items += len(decode_traces(body))
            elif signal is Signal.LOGS:
                items += len(decode_logs(body))

    assert items > 500
