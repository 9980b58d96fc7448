"""Whatever stands where a dialect expects a text: no exception leaves it, worst case is a gap.

The items are those of the dialects without captures; `test_fuzz` does the same with captured telemetry.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from collector.dialects.registry import read_log, read_span
from collector.messages.decoder import MessageDecoder
from collector.telemetry.records import LogRecord, Span, SpanEvent
from tests.collector.dialects import (
    test_azure_agents,
    test_claude_code,
    test_codex,
    test_gemini_cli,
    test_google_adk,
    test_openlit,
    test_pydantic_ai,
    test_recorded_values,
    test_semantic_kernel,
    test_spring_ai,
    test_strands,
    test_voice_agents,
)
from tests.support.genai_spans import rebuild

Items = Sequence[Span | LogRecord]

ITEMS: dict[str, Items] = {
    "azure": test_azure_agents.turn("a", 0, "Hi", told="Hello", with_tool=True),
    "claude-code": test_claude_code.with_bodies(),
    "codex": test_codex.talk(with_turns=True),
    "gemini-cli": test_gemini_cli.talk(),
    "google-adk": test_google_adk.legacy(),
    "openlit": [test_openlit.call("c", test_openlit.FIRST, "")],
    "pydantic-ai": [test_pydantic_ai.call("c", test_pydantic_ai.FIRST, test_pydantic_ai.USE)],
    "mastra": test_recorded_values.talk(test_recorded_values.mastra),
    "genkit": test_recorded_values.talk(test_recorded_values.genkit),
    "voltagent": test_recorded_values.talk(test_recorded_values.voltagent),
    "laminar": test_recorded_values.talk(test_recorded_values.laminar),
    "semantic-kernel": test_semantic_kernel.call("c", test_semantic_kernel.SECOND, {"content": "x"}, at=0),
    "spring-ai": [test_spring_ai.client("a", "Hi", "Hello"), test_spring_ai.tool()],
    "strands": test_strands.talk(test_strands.legacy_tool()),
    "livekit": test_voice_agents.livekit("lk."),
}
DEEP: Any = "end"
for _ in range(60):
    DEEP = {"role": "user", "content": [DEEP]}
JUNK: tuple[Any, ...] = (
    None, "", "{", "[", "[]", "{}", "null", "[null]", '"text"', "[[[[]]]]", 0, -1, 1.5, True, b"\xff\x00", [], {},
    [None, 1, "x", {}], {"role": 1, "content": {"parts": [3]}}, DEEP, '{"messages": [1, {"role": []}]}', "\ud800",
    "x" * 100_000,
)  # fmt: skip


@pytest.mark.parametrize("name", list(ITEMS))
def test_no_exception_leaves_a_dialect(name: str) -> None:
    failures: list[str] = []

    for seed in range(15):
        chance = random.Random(f"{name} {seed}")
        damaged = [_damaged(item, chance) for item in ITEMS[name]]
        for item in damaged:
            if isinstance(item, Span):
                read_span(item, MessageDecoder(), on_undecodable=failures.append)
            else:
                read_log(item, MessageDecoder(), on_undecodable=failures.append)
        rebuild(damaged)

    assert failures == []


def _damaged(item: Span | LogRecord, chance: random.Random) -> Span | LogRecord:
    changed: Any = replace(item, attributes=_mutated(item.attributes, chance))
    if isinstance(item, Span):
        return replace(changed, events=tuple(_event(event, chance) for event in item.events))
    return replace(changed, body=_junk(item.body, chance) if chance.random() < 0.3 else item.body)


def _event(event: SpanEvent, chance: random.Random) -> SpanEvent:
    return replace(event, attributes=_mutated(event.attributes, chance))


def _mutated(attributes: Any, chance: random.Random) -> dict[str, Any]:
    return {key: _junk(value, chance) if chance.random() < 0.4 else value for key, value in attributes.items()}


def _junk(value: Any, chance: random.Random) -> Any:
    if isinstance(value, str) and value and chance.random() < 0.5:
        return value[: chance.randrange(len(value))]
    return chance.choice(JUNK)
