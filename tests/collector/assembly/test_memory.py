"""What goes on from earlier looks is what a first look gives, byte for byte, whatever comes and in whatever order."""

from __future__ import annotations

import gc
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from collector.assembly.grove import Grove
from collector.assembly.node import Node
from collector.assembly.replayed import Replayed
from collector.assembly.units import by_trace, traces_of, units_of
from collector.dialects.registry import read_log, read_span
from collector.live.standard import StandardReconstruction
from collector.messages.decoder import MessageDecoder
from collector.operation import Operation
from collector.telemetry.decode import iter_logs, iter_spans
from collector.telemetry.jsonl import read_jsonl
from collector.telemetry.records import LogRecord, Signal, Span
from tests.support.corpus import THOROUGH, captures, sampled
from tests.support.genai_spans import agent, asks, calls, chat, log, returns, says, span, system, tool
from tests.support.growing import GrowingComponent, portions

ROUNDS = 4 if THOROUGH else 1


def read(items: Iterable[Span | LogRecord]) -> list[Operation]:
    decoder = MessageDecoder()
    found = [read_span(item, decoder) if isinstance(item, Span) else read_log(item, decoder) for item in items]
    return [operation for operation in found if operation is not None]


def fragments_of(capture: Path) -> list[Operation]:
    found: list[Operation] = []
    for signal, body in read_jsonl(capture / "otlp.jsonl"):
        if signal is not Signal.METRICS:
            found += read(iter_spans(body) if signal is Signal.TRACES else iter_logs(body))
    return found


def hold_against(fragments: list[Operation], rng: random.Random) -> None:
    growing = GrowingComponent()
    for portion in portions(fragments, rng):
        growing.add(portion)

        assert repr(growing.as_it_goes_on(rng)) == repr(growing.as_at_first())


class Talk:
    """One conversation of many turns, in the way that its traits say."""

    def __init__(self, name: str, rng: random.Random) -> None:
        self.name = name
        self.rng = rng
        self.history: list[dict[str, Any]] = [system("Be kind.")] if rng.random() < 0.3 else []
        self.has_agent = rng.random() < 0.6
        self.says_input = rng.random() < 0.5
        self.is_named = rng.random() < 0.5
        self.has_twins = rng.random() < 0.3
        self.has_guard = rng.random() < 0.4
        self.is_one_trace_a_call = not self.has_agent and rng.random() < 0.5
        self.counts_calls = rng.random() < 0.3
        self.drafts_first = rng.random() < 0.3
        self.is_reworded = rng.random() < 0.3
        self.is_like_others = rng.random() < 0.4
        self.names_previous = not self.is_named and rng.random() < 0.3
        self.previous = ""
        self.is_one_session = self.has_agent and rng.random() < 0.3
        self.items: list[Span | LogRecord] = []
        self.at = rng.randint(0, 50)

    def turns(self, count: int) -> list[Span | LogRecord]:
        for number in range(count):
            self._turn(number)
        if self.is_one_session:
            around = agent("desk", **{"gen_ai.operation.name": "invoke_workflow"})
            self.items.append(span(f"{self.name}s", around, lasts=self.at, trace=f"{self.name}s"))
        return self.items

    def _turn(self, number: int) -> None:
        rng, name = self.rng, self.name
        name = "somebody" if self.is_like_others else name
        words = rng.choice((f"Where is {name} {number}, please?", f"And {number}?", "Thanks"))
        answer = rng.choice((f"It is where it was left {number}, as {name} said before.", "You are welcome."))
        name = self.name
        trace = f"{name}s" if self.is_one_session else f"{name}{number}"
        top = f"{name}{number}a" if self.has_agent else ""
        ids: dict[str, Any] = {"gen_ai.conversation.id": f"talk-{name}"} if self.is_named else {}
        if rng.random() < 0.15:
            self.history = self.history[: rng.randint(0, len(self.history))]  # the application cut it
        asked = [*self.history, asks(words)]
        call_id = f"call_{number}" if self.counts_calls else f"call-{name}-{number}-id"
        begun = self.at
        for step in range(rng.choice((0, 1, 1, 2))):
            own_id = f"{call_id}{step}"
            wanted = calls(("find", own_id, {"what": f"{name}{number}", "step": step}))
            self._call(trace, top, f"{number}c{step}", asked, [wanted], ids)
            found = f"found {number} {step}"
            if rng.random() < 0.8:
                where = tool("find", {"what": f"{name}{number}", "step": step}, found, call_id=own_id)
                self._span(trace, top, f"{number}t{step}", where | ids)
            asked = [*asked, wanted, returns(found, own_id)]
        if self.drafts_first:
            self._call(trace, top, f"{number}y", asked, f"Maybe {number}, says {name}, who is not sure yet.", ids)
        self._call(trace, top, f"{number}z", asked, answer, ids)
        if self.is_reworded:
            self._call(trace, top, f"{number}x", [asks(f"Say it kindly: {answer}")], f"Kindly: {answer}", ids)
        if rng.random() < 0.1:  # the same span once more, with more in it
            more = [asks("One thing first."), says("Yes?"), *asked]
            self._span(trace, top, f"{number}z", chat(more, answer, **ids))
        if self.has_guard:
            self._call(f"{name}{number}g", "", f"{number}g", [asks(f"Is this fine? {words}")], "yes", ids)
        if self.has_agent:
            said = agent("clerk", words, answer) if self.says_input else agent("clerk")
            parent = f"{name}s" if self.is_one_session else ""
            self.items.append(span(top, said | ids, at=begun, lasts=self.at - begun, trace=trace, parent=parent))
        if rng.random() < 0.1:
            message = {"index": 0, "message": {"content": "late words"}}
            self.items.append(log("gen_ai.choice", message, span_id=f"{name}{number}z", trace=trace, at=self.at))
        is_kept = not self.drafts_first or rng.random() < 0.5
        self.history = [*asked, says(answer if is_kept else f"Maybe {number}, says {name}, who is not sure yet.")]
        self.at += rng.choice((0, 3, 20))

    def _call(self, trace: str, parent: str, key: str, sent: Any, given: Any, ids: dict[str, Any]) -> None:
        used = {"gen_ai.usage.input_tokens": len(sent), "gen_ai.response.id": f"resp-{self.name}-{key}"}
        if self.names_previous and self.previous:
            sent = sent[-1:]
            used["gen_ai.request.previous_response_id"] = self.previous
        self.previous = f"resp-{self.name}-{key}"
        attributes = chat(sent, given, **ids, **used)
        if self.is_one_trace_a_call:
            trace = f"{self.name}{key}"
        self._span(trace, parent, key, attributes)
        if self.has_twins and self.rng.random() < 0.5:
            self.at -= 2
            self._span(f"{trace}w", "", f"{key}w", attributes, scope="another.scope")

    def _span(
        self, trace: str, parent: str, key: str, attributes: dict[str, Any], *, scope: str = "test.scope"
    ) -> None:
        name = f"{self.name}{key}"
        self.items.append(span(name, attributes, at=self.at, lasts=2, trace=trace, parent=parent, scope=scope))
        self.at += 2


@pytest.mark.parametrize("seed", range(60 if THOROUGH else 14))
def test_talks_of_many_turns(seed: int) -> None:
    rng = random.Random(seed)
    items = [item for name in "uvw"[: rng.choice((1, 1, 2, 3))] for item in Talk(name, rng).turns(rng.randint(4, 9))]

    hold_against(read(items), rng)


@pytest.mark.parametrize("capture", sampled("*", every=11))
def test_captures(capture: Path) -> None:
    rng = random.Random(f"{capture.parent.name}/{capture.name}")
    for _ in range(ROUNDS):
        beside = fragments_of(rng.choice(captures("*"))) if rng.random() < 0.5 else []

        hold_against([*fragments_of(capture), *beside], rng)


GREETED = [asks("Hi"), says("Hello, what can be done for you today?")]
LATE = {
    "a call that began before the latest one takes its place in the order of time": [
        [
            span("p", chat(GREETED[:1], [GREETED[1]]), trace="p"),
            span("x", chat([asks("What is the time?")], "Noon."), at=50, trace="u"),
            span("y", chat([*GREETED, asks("How far?")], "Far."), at=120, trace="u"),
        ],
        [span("z", chat([*GREETED, asks("How late?")], "Late."), at=100, trace="z")],
    ],
    "a call that another instrumentation told of": [
        [
            span("p", chat(GREETED[:1], [GREETED[1]]), trace="p"),
            span("x", chat([asks("Far?")], "Yes.", **{"gen_ai.response.id": "r1"}), at=50, lasts=9, trace="x"),
        ],
        [span("z", chat([], None, **{"gen_ai.response.id": "r1"}), at=51, lasts=9, trace="z", scope="other")],
    ],
    "the answer that a call named as the previous one": [
        [
            span("p", chat(GREETED[:1], [GREETED[1]]), trace="p"),
            span("x", chat([asks("Far?")], "Yes.", **{"gen_ai.request.previous_response_id": "r1"}), at=50, trace="x"),
        ],
        [span("z", chat([asks("Near?")], "No.", **{"gen_ai.response.id": "r1"}), at=50, lasts=0, trace="z")],
    ],
}


@pytest.mark.parametrize("portions", LATE.values(), ids=LATE)
def test_what_joins_earlier_traces_late(portions: list[list[Span | LogRecord]]) -> None:
    growing = GrowingComponent()
    for portion in portions:
        growing.add(read(portion))

        assert repr(growing.as_it_goes_on(random.Random(1))) == repr(growing.as_at_first())


def test_what_is_in_no_input_any_more_is_not_repeated() -> None:
    first, second = (
        units_of(traces_of(read([span("c", chat([asks("Where?"), says(words), asks("When?")], "Now."))])))
        for words in ("Oslo.", "Bergen.")
    )
    replayed = Replayed()
    replayed.look_at([Grove(tuple(first))])
    told = set(replayed.digests)

    replayed.look_at([Grove(tuple(second))])

    assert len(told - replayed.digests) == 1
    assert len(replayed.digests) == len(told)


def test_what_is_released_is_gone_without_a_look_for_circles() -> None:
    def nodes() -> int:
        return sum(isinstance(each, Node) for each in gc.get_objects())

    fragments = read(item for name in "uv" for item in Talk(name, random.Random(3)).turns(6))
    assembling = StandardReconstruction().assembling()
    gc.collect()
    gc.disable()
    try:
        before = nodes()
        assembling.conversations(by_trace(fragments))
        assert nodes() > before

        assembling.release()

        assert nodes() == before
    finally:
        gc.enable()
