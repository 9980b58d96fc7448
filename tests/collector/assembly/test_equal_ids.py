"""Two systems that use the same trace and span ids: never mixed; and one span that came twice: never doubled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from collector.assembly.merge import Fragments
from collector.assembly.reconstruct import conversations_of
from collector.dialects.registry import read_log, read_span
from collector.messages.decoder import MessageDecoder
from collector.model import Conversation
from collector.telemetry.records import LogRecord, Resource, Span
from tests.support.genai_spans import agent, asks, chat, log, span, tool


def system_of(service: str, word: str, *, at: int) -> list[Span | LogRecord]:
    """One request: an agent, a tool, a call whose words came as a log record."""
    event = {"content": f"the word is {word}"}
    return [
        span("top", agent("clerk", f"Say {word}", f"It is {word}"), at=at, lasts=90 + at, service=service),
        span("look", tool("look_up", {"key": word}, f"found {word}"), at=at + 10, parent="top", service=service),
        span("call", chat([asks(f"Say {word}")], None), at=at + 20, parent="top", service=service, name="chat"),
        log("gen_ai.choice", {"message": event}, span_id="call", at=at + 25, service=service),
    ]


def rebuilt(items: Sequence[Span | LogRecord]) -> list[Conversation]:
    fragments = Fragments()
    decoder = MessageDecoder()
    for item in items:
        operation = read_span(item, decoder) if isinstance(item, Span) else read_log(item, decoder)
        if operation is not None:
            fragments.add(operation)
    return conversations_of(fragments.operations())


@given(st.permutations([*system_of("one", "red", at=0), *system_of("two", "blue", at=7)]))
@settings(max_examples=60, deadline=None)
def test_equal_ids_in_two_services_never_mix(items: list[Span | LogRecord]) -> None:
    apart = rebuilt(system_of("one", "red", at=0)) + rebuilt(system_of("two", "blue", at=7))

    assert rebuilt(items) == apart


@given(st.permutations(system_of("one", "red", at=0)), st.data())
@settings(max_examples=60, deadline=None)
def test_a_trace_over_several_services_stays_one(items: list[Span | LogRecord], data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(["one", "two", "three"]), min_size=4, max_size=4))
    services = dict(zip(("top", "look", "call", ""), names, strict=True))

    def elsewhere(item: Span | LogRecord) -> Span | LogRecord:
        name = services[item.name] if isinstance(item, Span) and item.name in services else services["call"]
        return replace(item, resource=Resource({"service.name": name}))

    (conversation,) = rebuilt([elsewhere(item) for item in items])

    (turn,) = conversation.turns
    assert (turn.user_input, turn.output) == ("Say red", "It is red")
    assert [step.kind for step in turn.steps] == ["tool_call", "tool_result"]


@given(st.permutations([*system_of("one", "red", at=0), *system_of("relabelled", "red", at=0)]))
@settings(max_examples=30, deadline=None)
def test_a_span_that_two_exporters_sent_under_two_names_is_one(items: list[Span | LogRecord]) -> None:
    (conversation,) = rebuilt(items)

    (turn,) = conversation.turns
    assert [step.kind for step in turn.steps] == ["tool_call", "tool_result"]
