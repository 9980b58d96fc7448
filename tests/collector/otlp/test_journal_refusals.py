"""What senders are told when the journal takes nothing: that it does not, and never where it is."""

from __future__ import annotations

import contextlib

import grpc
import pytest
from structlog.testing import capture_logs

from collector.clock import SystemClock
from collector.journal.settings import JournalSettings
from collector.journal.writer import JournalWriter
from tests.collector.journal.journals import Journal
from tests.support.faulty_files import FaultyFiles
from tests.support.otlp_requests import trace_request
from tests.support.raw_http import post
from tests.support.receivers import grpc_receiver, http_receiver

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
LARGE = trace_request(padding=7000)


def full(files):
    """Nothing is to be done: it is small."""


def disk_full(files):
    files.space_bytes = 0


def disk_broken(files):
    files.failing["fdatasync"] = 5


def defect(files):
    files.failing["write"] = "no number"  # A TypeError in the thread.


@pytest.mark.parametrize(
    ("spoil", "body", "told", "logged"),
    [
        (full, LARGE, "holds its 12000 bytes", "journal is full"),
        (disk_full, trace_request(), "could not write (No space left on device)", "journal disk refused"),
        (disk_broken, trace_request(), "could not sync (Input/output error)", "journal disk refused"),
        (defect, trace_request(), "failed unexpectedly (TypeError)", "journal append failed"),
    ],
    ids=["full", "disk full", "disk broken", "defect"],
)
async def test_no_answer_says_where_the_journal_is(tmp_path, spoil, body, told, logged):
    files = FaultyFiles()
    journal = Journal(tmp_path / "journal")
    settings = JournalSettings(journal.directory, compression="never", max_bytes=12_000)
    writer = JournalWriter(settings, cursors=["evaluator"], clock=SystemClock(), metrics=journal.metrics, files=files)
    async with contextlib.AsyncExitStack() as stack:
        await writer.start()
        stack.push_async_callback(writer.close, deadline_s=10)
        by_http = await stack.enter_async_context(http_receiver(writer))
        by_grpc = await stack.enter_async_context(grpc_receiver(writer))
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(f"127.0.0.1:{by_grpc.port}"))
        first = await post(by_http.port, "/v1/traces", body)
        spoil(files)

        with capture_logs() as lines:
            answer = await post(by_http.port, "/v1/traces", body)
            with pytest.raises(grpc.aio.AioRpcError) as refusal:
                await channel.unary_unary(EXPORT)(body, timeout=10)
        files.failing.clear()
        files.space_bytes = None

    said = refusal.value.details() or ""
    assert (first.status, answer.status) == (200, 503)
    assert told.encode() in answer.body
    assert said.startswith("The journal ")
    assert str(tmp_path) not in said + answer.body.decode("latin-1")
    assert logged in [line["event"] for line in lines]


async def test_whoever_runs_it_is_told_once_that_the_journal_is_full_and_where(tmp_path):
    journal = Journal(tmp_path / "journal")
    settings = JournalSettings(journal.directory, compression="never", max_bytes=12_000)
    writer = JournalWriter(settings, cursors=["evaluator"], clock=SystemClock(), metrics=journal.metrics)
    await writer.start()
    async with http_receiver(writer) as receiver:
        with capture_logs() as lines:
            for _ in range(4):
                await post(receiver.port, "/v1/traces", LARGE)
    await writer.close(deadline_s=10)

    (line,) = [line for line in lines if line["event"] == "journal is full"]
    assert line["directory"] == str(journal.directory)
    assert journal.value("refused_total", reason="full") == 3
