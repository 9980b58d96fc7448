"""Records that name no span: an answer that was emitted after its call's context was gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import pytest

from collector.model import Conversation, GapKind
from collector.telemetry.records import LogRecord, Span
from tests.support.genai_spans import MS, T0, log, rebuild, span
from tests.support.two_turns import CALL, shown

CALLED = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m-1",
    "gen_ai.is_streaming": True,
    "gen_ai.response.finish_reasons": ["stop"],
}
FIRST, SECOND = "Why is the sky red?", "And on Mars?"
TOLD, TOLD_NEXT = "Light crosses more air.", "No, it is bluish there."


def asked(text: str, *, of: str, at: int) -> LogRecord:
    return log("gen_ai.user.message", {"content": text}, span_id=of, trace=of, at=at)


def answered(text: str, *, of: str, at: int) -> LogRecord:
    return log("gen_ai.assistant.message", {"content": text}, span_id=of, trace=of, at=at)


def choice(text: str, *, at: int, of: str = "", trace: str = "") -> LogRecord:
    body = {"index": 0, "finish_reason": "stop", "message": {"content": text}}
    record = log("gen_ai.choice", body, span_id=of or "x", trace=trace or of or "x", at=at)
    return record if of else replace(record, trace_id="", span_id="")


def told(conversations: Sequence[Conversation]) -> list[list[tuple[str | None, str | None]]]:
    return [[(turn.user_input, turn.output) for turn in conversation.turns] for conversation in conversations]


def test_an_answer_that_names_no_call_is_given_to_none_and_the_turn_has_a_gap() -> None:
    """Even where only one call could have given it: a call that was sampled out could have as well."""
    items = [
        span("c1", CALLED, trace="c1", lasts=10),
        asked(FIRST, of="c1", at=1),
        replace(choice(TOLD, at=9), time_ns=T0 + 10 * MS - 92_000),
    ]

    for order in permutations(items):
        (conversation,) = rebuild(order)

        assert told([conversation]) == [[(FIRST, None)]]
        assert conversation.turns[0].gaps == (GapKind.OUTPUT_MISSING,)


def test_two_users_who_stream_at_once_never_have_each_others_answers() -> None:
    other = "How old is the Moon?"
    items: list[Span | LogRecord] = [
        span("c1", CALLED, trace="c1", lasts=10),
        span("c2", CALLED, trace="c2", at=2, lasts=8),
        asked(FIRST, of="c1", at=1),
        asked(other, of="c2", at=3),
        choice(TOLD, at=9),
        choice("Four billion years.", at=9),
    ]

    assert told(rebuild(items)) == [[(FIRST, None)], [(other, None)]]


def test_the_next_call_replays_what_the_answer_was() -> None:
    items = [
        span("c1", CALLED, trace="c1", lasts=10),
        asked(FIRST, of="c1", at=1),
        choice(TOLD, at=9),
        span("c2", CALLED, trace="c2", at=20, lasts=10),
        asked(FIRST, of="c2", at=21),
        answered(TOLD, of="c2", at=22),
        asked(SECOND, of="c2", at=23),
        choice(TOLD_NEXT, at=29),
    ]

    (conversation,) = rebuild(items)

    assert told([conversation]) == [[(FIRST, TOLD), (SECOND, None)]]
    assert [turn.gaps for turn in conversation.turns] == [(), (GapKind.OUTPUT_MISSING,)]


@pytest.mark.parametrize(
    "outer",
    [{"http.route": "/chat"}, {"traceloop.span.kind": "workflow", "traceloop.entity.name": "desk"}],
    ids=["server-span", "workflow"],
)
def test_an_answer_that_names_the_span_around_its_call_is_that_calls(outer: dict[str, str]) -> None:
    """Within a server or a workflow the context that is left at a stream's end is the outer span's."""
    items = [
        span("o", outer, trace="c1", lasts=30),
        span("c1", CALLED, trace="c1", at=1, lasts=10, parent="o"),
        asked(FIRST, of="c1", at=2),
        choice(TOLD, at=10, of="o", trace="c1"),
    ]

    for order in permutations(items):
        (conversation,) = rebuild(order)

        assert told([conversation]) == [[(FIRST, TOLD)]]
        assert conversation.turns[0].gaps == ()


@pytest.mark.parametrize(
    "outer",
    [{"http.route": "/chat"}, {"traceloop.span.kind": "workflow", "traceloop.entity.name": "desk"}],
    ids=["server-span", "workflow"],
)
def test_the_answers_of_a_tool_loop_that_all_name_the_span_around_it_are_told_in_order(outer: dict[str, str]) -> None:
    wanted = [{"id": CALL, "type": "function", "function": {"name": "look", "arguments": '{"at": "sky"}'}}]
    asks = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant"}, "tool_calls": wanted}
    items = [
        span("o", outer, trace="c1", lasts=60),
        span("c1", CALLED, trace="c1", at=1, lasts=10, parent="o"),
        log("gen_ai.user.message", {"content": FIRST}, span_id="c1", trace="c1", at=2),
        log("gen_ai.choice", asks, span_id="o", trace="c1", at=10),
        span("c2", CALLED, trace="c1", at=20, lasts=10, parent="o"),
        log("gen_ai.user.message", {"content": FIRST}, span_id="c2", trace="c1", at=21),
        log("gen_ai.assistant.message", {"tool_calls": wanted}, span_id="c2", trace="c1", at=22),
        log("gen_ai.tool.message", {"id": CALL, "content": '{"colour": "red"}'}, span_id="c2", trace="c1", at=23),
        choice(TOLD, at=29, of="o", trace="c1"),
    ]

    (conversation,) = rebuild(items)

    assert shown(conversation) == [
        (FIRST, [("call", "look", {"at": "sky"}), ("result", "look", {"colour": "red"})], TOLD)
    ]
    assert conversation.turns[0].gaps == ()


@pytest.mark.parametrize("has_inner_twin", [False, True], ids=["alone", "beside-the-clients-own-tracer"])
@pytest.mark.parametrize(
    "outer",
    [{"http.route": "/chat"}, {"traceloop.span.kind": "workflow", "traceloop.entity.name": "desk"}],
    ids=["server-span", "workflow"],
)
def test_records_that_all_name_the_span_around_are_those_of_the_calls_they_were_emitted_in(
    outer: dict[str, str], *, has_inner_twin: bool
) -> None:
    wanted = [{"id": CALL, "type": "function", "function": {"name": "look", "arguments": '{"at": "sky"}'}}]
    told_of = [
        ("gen_ai.system.message", {"content": "Be brief."}, 2),
        ("gen_ai.user.message", {"content": FIRST}, 3),
        ("gen_ai.choice", {"index": 0, "message": {"role": "assistant"}, "tool_calls": wanted}, 9),
        ("gen_ai.system.message", {"content": "Be brief."}, 22),
        ("gen_ai.user.message", {"content": FIRST}, 22),
        ("gen_ai.assistant.message", {"tool_calls": wanted}, 23),
        ("gen_ai.tool.message", {"content": '{"colour": "red"}'}, 24),
        ("gen_ai.choice", {"index": 0, "message": {"content": TOLD}}, 31),
    ]
    twins = [
        span("i1", CALLED, trace="c1", at=3, lasts=5, parent="o", scope="client"),
        span("i2", CALLED, trace="c1", at=25, lasts=4, parent="o", scope="client"),
    ]
    items: list[Span | LogRecord] = [
        span("o", outer, trace="c1", lasts=60),
        span("c1", CALLED, trace="c1", at=1, lasts=10, parent="o"),
        span("c2", CALLED, trace="c1", at=20, lasts=10, parent="o"),
        *(twins if has_inner_twin else []),
        *(log(name, body, span_id="o", trace="c1", at=at) for name, body, at in told_of),
    ]

    (conversation,) = rebuild(items)

    assert shown(conversation) == [
        (FIRST, [("call", "look", {"at": "sky"}), ("result", "look", {"colour": "red"})], TOLD)
    ]
    assert conversation.system_instructions == "Be brief."
    assert conversation.turns[0].gaps == ()


def test_records_of_calls_at_the_same_time_stay_where_they_say_they_are() -> None:
    items: list[Span | LogRecord] = [
        span("o", {"http.route": "/chat"}, trace="c1", lasts=60),
        span("c1", CALLED, trace="c1", at=1, lasts=10, parent="o"),
        span("c2", CALLED, trace="c1", at=5, lasts=10, parent="o"),
        asked(FIRST, of="o", at=6),
        choice(TOLD, at=9, of="o"),
    ]

    conversations = rebuild([replace(item, trace_id=items[0].trace_id) for item in items])

    assert told(conversations) == [[(FIRST, TOLD)]]
