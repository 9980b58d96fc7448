"""The same conversations for any order, repetition and split of what arrives, and nothing mixed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.assembly.render import to_json
from collector.telemetry.records import LogRecord, Span
from tests.support.genai_spans import agent, asks, calls, chat, log, rebuild, returns, says, span, tool


def _scene() -> list[Span | LogRecord]:
    wanted = calls(("locate", "call-00001", {"id": 1}))
    history = [asks("Where?"), wanted, returns("Oslo", "call-00001")]
    items: list[Span | LogRecord] = [
        span("a", agent("clerk", "Where?", "Oslo."), lasts=50),
        span("c1", chat(history[:1], [wanted]), at=1, parent="a"),
        span("t", tool("locate", {"id": 1}, "Oslo", call_id="call-00001"), at=9, parent="a"),
        span("c2", chat(history, "Oslo."), at=20, parent="a"),
        span("d", chat([*history, says("Oslo."), asks("Thanks")], "Bye"), at=100, trace="t2"),
    ]
    for user in "xy":  # two users who begin with the same words
        items.append(span(f"{user}1", chat([asks("Hi")], "Hello"), at=ord(user), trace=f"{user}1"))
        items.append(
            span(f"{user}2", chat([asks("Hi"), says("Hello"), asks(user)], "ok"), at=300 + ord(user), trace=f"{user}2")
        )
    bare = {"gen_ai.operation.name": "chat", "gen_ai.system": "s", "gen_ai.request.model": "m"}
    items += [
        span("e", bare, at=500, lasts=20, trace="e"),
        log("gen_ai.system.message", {"content": "Be brief."}, span_id="e", trace="e", at=501),
        log("gen_ai.user.message", {"content": "One?"}, span_id="e", trace="e", at=502),
        log("gen_ai.choice", {"index": 0, "message": {"content": "Two."}}, span_id="e", trace="e", at=519),
    ]
    return items


SCENE = _scene()


def _told(items: list[Span | LogRecord]) -> bytes:
    return orjson.dumps([to_json(conversation) for conversation in rebuild(items)])


EXPECTED = _told(SCENE)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_order_repetition_and_split_change_nothing(data: Any) -> None:
    repeated = [item for item in SCENE for _ in range(data.draw(st.integers(1, 3)))]
    order = data.draw(st.permutations(repeated))
    positions = data.draw(st.lists(st.integers(0, 9), min_size=len(order), max_size=len(order)))
    sent = [
        replace(item, position=position) if isinstance(item, LogRecord) else item
        for item, position in zip(order, positions, strict=True)
    ]

    assert _told(sent) == EXPECTED


def test_the_scene_is_what_it_should_be() -> None:
    found = orjson.loads(EXPECTED)

    assert [len(conversation["turns"]) for conversation in found] == [2, 2, 2, 1]
