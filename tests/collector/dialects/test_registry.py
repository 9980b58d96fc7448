from __future__ import annotations

import pytest

from collector.dialects import registry
from collector.dialects.conversation_ids import BARE_SESSION_RANK
from collector.dialects.registry import is_candidate, markers, read_log, read_span
from collector.messages.decoder import MessageDecoder
from collector.model import GapKind
from collector.operation import Operation, OperationKind
from collector.telemetry.records import Span
from tests.support.genai_spans import asks, chat, log, span


class FailingDialect:
    """Knows every span and reads none."""

    NAME = "failing"
    MARKERS = (b"anything",)

    def sniffs_span(self, span: Span, /) -> bool:
        return True

    def read_span(self, span: Span, decoder: MessageDecoder, /) -> Operation:
        raise RuntimeError("unexpected")


def test_a_span_of_no_dialect_gives_its_place_and_the_session_it_names() -> None:
    found = read_span(span("root", {"session.id": "s-1", "http.route": "/chat"}), MessageDecoder())

    assert found is not None
    assert found.kind is OperationKind.OTHER
    assert (found.conversation_id, found.conversation_id_rank) == ("s-1", BARE_SESSION_RANK)


def test_a_span_of_two_dialects_has_the_content_of_the_better_one_and_all_ids() -> None:
    attributes = chat([asks("Hi")], "Hello") | {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "something else",
        "session.id": "s-1",
    }

    found = read_span(span("c", attributes), MessageDecoder())

    assert found is not None
    assert found.dialect == "openinference+otel_genai"
    assert found.input is not None
    assert str(found.input.message.parts[0]) == "TextPart(text='Hi')"
    assert found.conversation_id == "s-1"


def test_content_comes_from_the_dialect_that_has_any() -> None:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": '[{"role": "assistant", "parts": []}]',
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "Hi",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "Hello",
    }

    found = read_span(span("c", attributes), MessageDecoder())

    assert found is not None
    assert str(found.output[0].parts[0]) == "TextPart(text='Hello')"


def test_a_failing_dialect_costs_its_own_part_and_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "SPAN_DIALECTS", (FailingDialect(), *registry.SPAN_DIALECTS))
    counted: list[str] = []

    found = read_span(span("c", chat([asks("Hi")], "Hello")), MessageDecoder(), on_undecodable=counted.append)

    assert counted == ["failing"]
    assert found is not None
    assert found.kind is OperationKind.MODEL_CALL
    assert GapKind.UNDECODABLE in found.gaps


@pytest.mark.parametrize(
    "attributes",
    [
        pytest.param({"logfire.span_type": "pending_span"}, id="start-marker"),
        pytest.param({"langfuse.experiment.id": "e-1"}, id="offline-experiment"),
    ],
)
def test_spans_of_no_conversation_are_left_out(attributes: dict[str, str]) -> None:
    assert read_span(span("x", attributes | {"gen_ai.operation.name": "chat"}), MessageDecoder()) is None


def test_log_records_of_no_interest_are_none() -> None:
    assert read_log(log("http.request", {"x": 1}, span_id="a"), MessageDecoder()) is None


def test_candidates_are_told_by_their_bytes() -> None:
    known = markers()

    assert is_candidate(b"...gen_ai.operation.name...", known)
    assert is_candidate(b"...session.id...", known)
    assert not is_candidate(b"http.method GET /", known)
