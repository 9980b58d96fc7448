"""Mutated telemetry: whatever arrives, no exception leaves reading or assembly; the worst is a gap."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.assembly.link_keys import link_keys
from collector.assembly.render import to_json, to_text
from collector.telemetry.decode import decode_logs, decode_traces
from collector.telemetry.jsonl import read_jsonl
from collector.telemetry.records import LogRecord, Signal, Span
from tests.collector.dialects import test_eras
from tests.support.corpus import THOROUGH, sampled
from tests.support.genai_spans import read_all, rebuild

ERAS = (
    test_eras.current_spans,
    test_eras.structured_values,
    test_eras.details_events,
    test_eras.old_log_events,
    test_eras.old_span_events,
    test_eras.openinference,
    test_eras.openinference_request_bodies,
    test_eras.openllmetry_flat,
    test_eras.openllmetry_json,
)
SCENES = [list(build()) for build in ERAS]
ROUNDS = 20 if THOROUGH else 4
"""Mutations of one capture: a thorough run makes more than 10,000 in all."""


def _deep(levels: int) -> Any:
    value: Any = "x"
    for level in range(levels):
        value = [value] if level % 2 else {"content": value}
    return value


ODD: tuple[Any, ...] = (
    None, "", 0, -1, 2**63, 1.5, float("nan"), True, b"\xff\x00", [], {}, [None], {"": None}, "\ud800", "{", "[",
    '[{"role":',
    '"' * 50, "[" * 3_000, '{"a":' * 3_000, _deep(200), [{"role": 1, "parts": "x"}],
    [{"role": "user", "parts": {"type": []}}],
    {"messages": [[[]]]}, [[{"role": "tool", "content": {"toolResult": 3}}]], "x" * 100_000, "StopEvent(result=Cut(",
)  # fmt: skip


def _cut(value: Any, rng: random.Random) -> Any:
    return value[: rng.randrange(len(value) + 1)] if isinstance(value, (str, list)) else value


def _mutated_attributes(attributes: Any, rng: random.Random) -> dict[str, Any]:
    found = dict(attributes)
    for key in list(found):
        roll = rng.random()
        if roll < 0.1:
            del found[key]
        elif roll < 0.2:
            found[key] = rng.choice(ODD)
        elif roll < 0.3:
            found[key] = _cut(found[key], rng)
        elif roll < 0.35:
            found[rng.choice(list(attributes))] = found[key]
    return found


def mutated(item: Span | LogRecord, rng: random.Random) -> Span | LogRecord:
    attributes = _mutated_attributes(item.attributes, rng)
    if isinstance(item, LogRecord):
        body = rng.choice([item.body, rng.choice(ODD), _cut(item.body, rng)])
        if isinstance(body, dict):
            body = _mutated_attributes(body, rng)
        return replace(item, attributes=attributes, body=body, time_ns=rng.choice([0, item.time_ns]))
    events = tuple(replace(e, attributes=_mutated_attributes(e.attributes, rng)) for e in item.events)
    return replace(
        item,
        attributes=attributes,
        events=events,
        parent_span_id=rng.choice([item.parent_span_id, item.span_id, "", "ffffffffffffffff"]),
        start_ns=rng.choice([item.start_ns, 0, 2**63]),
        end_ns=rng.choice([item.end_ns, 0]),
    )


def survive(items: list[Span | LogRecord], rng: random.Random) -> None:
    changed = [mutated(item, rng) for item in items if rng.random() < 0.95]
    link_keys(read_all(changed))
    for conversation in rebuild(changed):
        to_json(conversation)
        to_text(conversation)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(range(len(SCENES))), st.integers(0, 2**32))
def test_mutated_telemetry_costs_content_never_the_process(scene: int, seed: int) -> None:
    survive(SCENES[scene], random.Random(seed))


@pytest.mark.parametrize("value", ODD, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("build", ERAS)
def test_no_attribute_is_trusted(build: Callable[[], Any], value: Any) -> None:
    items = [
        replace(
            item,
            attributes=dict.fromkeys(item.attributes, value),
            **({"body": value} if isinstance(item, LogRecord) else {}),
        )
        for item in build()
    ]

    for conversation in rebuild(items):
        to_json(conversation)


@pytest.mark.parametrize("capture", sampled("*", every=23))
def test_mutated_captures_cost_content_never_the_process(capture: Path) -> None:
    items: list[Span | LogRecord] = []
    for signal, body in read_jsonl(capture / "otlp.jsonl"):
        items += decode_traces(body) if signal is Signal.TRACES else decode_logs(body)
    rng = random.Random(str(capture.parent.name))

    for _ in range(ROUNDS):
        survive(items, rng)
