"""A remembered answer is the one that asking anew would give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from collector.dialects.registry import known_to
from collector.dialects.sniffing import SniffMemory
from collector.telemetry.decode import iter_spans
from collector.telemetry.jsonl import read_jsonl
from collector.telemetry.records import Resource, Scope, Signal, Span, SpanEvent, StatusCode
from tests.support.corpus import captures
from tests.support.recordings import RECORDINGS


def span(**changes) -> Span:
    base = Span(
        trace_id="01" * 16,
        span_id="02" * 8,
        parent_span_id="",
        name="chat",
        kind=1,
        start_ns=1,
        end_ns=2,
        attributes={"gen_ai.system": "openai", "size": 1},
        events=(),
        links=(),
        status=StatusCode.UNSET,
        status_message="",
        resource=Resource({"service.name": "shop"}),
        scope=Scope("some.scope", "1", {}),
    )
    return replace(base, **changes)


class Counted:
    def __init__(self, ask: Callable[[Span], str]) -> None:
        self._ask = ask
        self.calls = 0

    def __call__(self, item: Span) -> str:
        self.calls += 1
        return self._ask(item)


LOOKS = {
    "attribute value": lambda s: f"{s.attributes.get('gen_ai.system')}",
    "attribute type": lambda s: type(s.attributes.get("size")).__name__,
    "attribute key": lambda s: str("extra" in s.attributes),
    "all attributes": lambda s: str(sorted(s.attributes.items(), key=str)),
    "copied attributes": lambda s: str({**s.attributes}),
    "name": lambda s: s.name,
    "kind": lambda s: str(s.kind),
    "status": lambda s: s.status_message,
    "scope name": lambda s: s.scope.name,
    "scope version": lambda s: s.scope.version,
    "resource value": lambda s: str(s.resource.attributes.get("service.name")),
    "resource key": lambda s: str("host.name" in s.resource.attributes),
    "all of the resource": lambda s: str(list(s.resource.attributes)),
    "service": lambda s: str(s.resource.service_name),
    "events": lambda s: str([event.name for event in s.events]),
}
VARIANTS = (
    {},
    {"attributes": {"gen_ai.system": "other", "size": 1}},
    {"attributes": {"gen_ai.system": "openai", "size": 1.0}},
    {"attributes": {"gen_ai.system": "openai", "size": True}},
    {"attributes": {"gen_ai.system": ["openai"], "size": None}},
    {"attributes": {"gen_ai.system": "x" * 10_000, "size": 1}},
    {"attributes": {"gen_ai.system": "openai", "size": 1, "extra": 2}},
    {"name": "other"},
    {"kind": 3},
    {"status_message": "bad"},
    {"scope": Scope("other.scope", "1", {})},
    {"scope": Scope("some.scope", "2", {})},
    {"resource": Resource({"service.name": "other"})},
    {"resource": Resource({"host.name": "a"})},
    {"resource": Resource({"host.name": None})},
    {"events": (SpanEvent("one", 1, {}),)},
    {"events": (SpanEvent("two", 1, {}),)},
)


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_whatever_is_looked_at_the_answer_is_that_of_the_span_at_hand(look) -> None:
    memory = SniffMemory(look)
    variants = [span(**changes) for changes in VARIANTS]

    answers = [memory.of(item) for _ in range(3) for item in (*variants, *reversed(variants))]

    assert answers == [look(item) for _ in range(3) for item in (*variants, *reversed(variants))]


def test_spans_that_are_alike_are_asked_about_once() -> None:
    ask = Counted(lambda s: str(s.attributes.get("gen_ai.system") == "openai"))
    memory = SniffMemory(ask)

    for number in range(100):
        memory.of(span(span_id=f"{number:016x}", attributes={"gen_ai.system": "openai", "size": number}))

    assert ask.calls == 1


def test_a_value_that_is_different_each_time_costs_no_more_than_memory_for_some() -> None:
    memory = SniffMemory(lambda s: s.name)

    answers = [memory.of(span(name=f"order {number}")) for number in range(1000)]

    assert answers == [f"order {number}" for number in range(1000)]


@pytest.mark.corpus
@pytest.mark.skipif(not captures("*"), reason="The folder of real captures is not beside the checkout.")
def test_on_recordings_the_dialects_are_those_that_sniffing_finds() -> None:
    memory = SniffMemory(known_to)
    requests = [one for capture in captures("*") for one in read_jsonl(capture / "otlp.jsonl")]
    spans = [item for signal, body in requests if signal is Signal.TRACES for item in iter_spans(body)]
    expected = [known_to(item) for item in spans]

    assert [memory.of(item) for item in spans] == expected
    assert [memory.of(item) for item in spans] == expected


def has_id(key: str) -> bool:
    return key.endswith((".id", "_id"))


@pytest.mark.parametrize("file", RECORDINGS.values(), ids=RECORDINGS)
def test_spans_that_differ_in_their_ids_alone_are_sniffed_once(file):
    bodies = [body for signal, body in read_jsonl(file) if signal is Signal.TRACES]
    with_ids = [one for body in bodies for one in iter_spans(body) if any(map(has_id, one.attributes))]
    for one in with_ids:
        ask = Counted(known_to)
        memory = SniffMemory(ask)
        for number in range(50):
            memory.of(replace(one, events=(), attributes=another_s(one.attributes, number)))

        assert ask.calls <= 3, one.scope.name


def another_s(attributes, number):
    return {key: f"{value}-{number}" if has_id(key) else value for key, value in attributes.items()}
