"""An agent that sends log records and no spans, through the live state."""

from __future__ import annotations

from pathlib import Path

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from collector.live.ready import ReadyReason, ReadyTurn
from collector.telemetry.records import Signal
from tests.support.live_state import LiveHarness

SECOND_NS = 1_000_000_000


def body(*events: tuple[str, int, dict[str, str]]) -> bytes:
    """(name, seconds since the start, attributes) each; no trace, no span, no time but the observed one."""
    request = ExportLogsServiceRequest()
    logs = request.resource_logs.add()
    logs.resource.attributes.append(KeyValue(key="service.name", value=AnyValue(string_value="claude-code")))
    scoped = logs.scope_logs.add()
    for name, at_s, attributes in events:
        named = {"event.name": name, "session.id": "s-1", **attributes}
        record = LogRecord(observed_time_unix_nano=(1_790_000_000 + at_s) * SECOND_NS)
        record.body.string_value = f"claude_code.{name}"
        record.attributes.extend(KeyValue(key=k, value=AnyValue(string_value=v)) for k, v in named.items())
        scoped.log_records.append(record)
    return request.SerializeToString()


async def test_a_turn_waits_for_its_answer_and_is_given_once_it_is_quiet(tmp_path: Path) -> None:
    harness = LiveHarness(tmp_path)
    harness.receive(body(("user_prompt", 0, {"prompt.id": "p", "prompt": "Hi"})), signal=Signal.LOGS)
    harness.read()
    await harness.advance(30)
    early = harness.due()

    answer = ("assistant_response", 31, {"prompt.id": "p", "response": "Hello.", "request_id": "r-1"})
    harness.receive(body(answer), signal=Signal.LOGS)
    harness.read()
    await harness.advance(100)
    found = harness.due()

    assert early == []
    (ready,) = [item for item in found if isinstance(item, ReadyTurn)]
    turn = ready.conversation.turns[ready.turn_index]
    assert (turn.user_input, turn.output, turn.is_stand_in) == ("Hi", "Hello.", True)
    assert ready.reason is ReadyReason.IDLE
    harness.close()
