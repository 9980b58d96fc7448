from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from collector.model import ToolResultStep
from collector.operation import OperationKind
from collector.telemetry.records import Span, SpanEvent
from evaluators.evidence import Citation, verify
from tests.support.conversations import conversation_unit
from tests.support.genai_spans import T0, asks, calls, chat, read_all, rebuild, returns, says, span, tool

ASKED = "Where is parcel P-9?"
TOLD = "The function failed."
ERROR = "depot Oslo did not answer within 5 s"
CALL = "call-00000001"
FIRST = [asks(ASKED), calls(("locate", CALL, {"parcel": "P-9"}))]


def raised(message: str, kind: str = "shop.DepotError") -> SpanEvent:
    stack = f'Traceback (most recent call last):\n  File "a.py", line 1\n{kind}: {message}'
    values = {"exception.type": kind, "exception.message": message, "exception.stacktrace": stack}
    return SpanEvent("exception", T0, values)


def failed(
    span_id: str = "t",
    *,
    status: str = "",
    events: Sequence[SpanEvent] = (),
    attributes: dict[str, Any] | None = None,
    **more: Any,
) -> Span:
    known = tool("locate", {"parcel": "P-9"}, call_id=CALL) | (attributes or {})
    made = span(span_id, known, at=2, lasts=3, error=True, events=events, **more)
    return replace(made, status_message=status)


def talk(*tools: Span, told: Any = TOLD) -> list[Span]:
    return [
        span("c1", chat(FIRST[:1], FIRST[1:]), at=0),
        *tools,
        span("c2", chat([*FIRST, returns(told, CALL)], "I cannot find it just now."), at=9),
    ]


def result_of(spans: Sequence[Span]) -> ToolResultStep:
    (conversation,) = rebuild(spans)
    (turn,) = conversation.turns
    (step,) = [step for step in turn.steps if isinstance(step, ToolResultStep)]
    return step


@pytest.mark.parametrize(
    "span_of_it",
    [
        failed(events=[raised(ERROR)]),
        failed(status=ERROR),
        failed(events=[raised(ERROR)], status="Traceback (most recent call last):\n  File"),
    ],
    ids=["exception-event", "status-message", "both"],
)
def test_the_told_text_comes_first_and_the_tools_own_error_after_it(span_of_it: Span) -> None:
    step = result_of(talk(span_of_it))

    assert step.result == f"{TOLD}\n[the tool's own error: {ERROR}]"
    assert step.is_error


@pytest.mark.parametrize(
    ("told", "error"),
    [
        (f"Error: {ERROR}", ERROR),
        (f"Tool failed: {ERROR}. Try again.", f"  {ERROR.upper()}\n"),
        (TOLD, "tool_error"),
        (TOLD, "ToolExecutionError"),
        ("Depot did not answer.", "DepotDidNotAnswerError"),
        (TOLD, ""),
    ],
    ids=["told", "told-in-other-letters", "a-type", "a-class", "a-class-whose-words-were-told", "nothing"],
)
def test_an_error_that_says_no_more_is_not_told_twice(told: str, error: str) -> None:
    assert result_of(talk(failed(status=error), told=told)).result == told


def test_a_tool_that_did_not_fail_has_its_result_alone() -> None:
    fine = replace(failed(events=[raised(ERROR)]), status=span("x", {}).status)

    assert result_of(talk(fine, told={"place": "Oslo"})).result == {"place": "Oslo"}


def test_an_object_that_the_agent_was_told_stays_one() -> None:
    told = {"status": "failed"}

    step = result_of(talk(failed(status=ERROR), told=told))

    assert step.result == {"status": "failed", "the tool's own error": ERROR}


def test_of_several_spans_of_one_call_the_one_that_says_most_is_heard() -> None:
    """A client's span over a server's: only the inner one knows what happened."""
    outer = failed("outer", attributes={"error.type": "tool_error"}, scope="client")
    inner = failed("inner", events=[raised(ERROR)], parent="outer", scope="server")
    spans = talk(outer, inner)

    results = {result_of(order).result for order in permutations(spans)}

    assert results == {f"{TOLD}\n[the tool's own error: {ERROR}]"}


def test_a_failed_tool_without_a_told_text_has_the_error_that_says_most() -> None:
    outer = failed("outer", attributes={"error.type": "tool_error"}, scope="client")
    inner = failed("inner", events=[raised(ERROR)], parent="outer", scope="server")

    assert result_of(talk(outer, inner)[:-1]).result == ERROR


def test_a_tool_that_failed_inside_a_sub_agent_says_so_too() -> None:
    inner_call = "call-00000002"
    asked = [asks("Find P-9."), calls(("scan", inner_call, {}))]
    spans = [
        span("c1", chat(FIRST[:1], FIRST[1:]), at=0),
        span("t", tool("locate", {"parcel": "P-9"}, call_id=CALL), at=1, lasts=8),
        span("i1", chat(asked[:1], asked[1:]), at=2, parent="t"),
        replace(
            span("i2", tool("scan", {}, call_id=inner_call), at=3, parent="t", error=True), status_message=ERROR
        ),
        span("i3", chat([*asked, returns("Failed.", inner_call)], "Unknown."), at=5, parent="t"),
        span("c2", chat([*FIRST, returns("Unknown.", CALL)], "I cannot find it."), at=9),
    ]  # fmt: skip

    (conversation,) = rebuild(spans)

    results = [step for step in conversation.turns[0].steps if isinstance(step, ToolResultStep)]
    assert (results[0].name, results[0].result) == ("scan", f"Failed.\n[the tool's own error: {ERROR}]")
    assert results[1].result == "Unknown."


def test_what_is_added_is_bounded() -> None:
    step = result_of(talk(failed(events=[raised("x y " * 10_000)])))

    assert isinstance(step.result, str)
    assert len(step.result) < 700


def test_what_the_spans_say_of_a_failure_is_no_part_of_the_history() -> None:
    """The next turn's replay holds the told text, and still joins."""
    history = [*FIRST, returns(TOLD, CALL), says("I cannot find it just now.")]
    spans = [
        *talk(failed(events=[raised(ERROR)])),
        span("c3", chat([*history, asks("Try again.")], "Still nothing."), at=20, trace="t2"),
    ]

    (conversation,) = rebuild(spans)

    assert [turn.user_input for turn in conversation.turns] == [ASKED, "Try again."]
    assert [turn.gaps for turn in conversation.turns] == [(), ()]
    plain, told = read_all(talk(failed()))[-1], read_all(talk(failed(status=ERROR)))[-1]
    assert plain.kind is told.kind is OperationKind.MODEL_CALL
    assert plain.input == told.input


@pytest.mark.parametrize("quote", [TOLD, ERROR, f"[the tool's own error: {ERROR}]", f"{TOLD}\n| [the tool's own"])
def test_evidence_may_quote_both(quote: str) -> None:
    (conversation,) = rebuild(talk(failed(events=[raised(ERROR)])))

    evidence = verify(Citation("t0.1", quote), conversation_unit(conversation))

    assert evidence.step == 1
