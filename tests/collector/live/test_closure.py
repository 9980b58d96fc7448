"""Whether a trace has ended, told from the spans that are there."""

from __future__ import annotations

import pytest

from collector.live.closure import awaits_tools, is_closed
from collector.model import MessageStep, ToolCallStep, Turn
from collector.operation import Operation, OperationKind

AGENT, CALL, TOOL, OTHER = OperationKind.AGENT, OperationKind.MODEL_CALL, OperationKind.TOOL, OperationKind.OTHER
WORKFLOW = OperationKind.WORKFLOW


def operation(
    span_id: str, parent: str | None, kind: OperationKind, *, end_ns: int = 2, is_stand_in: bool = False
) -> Operation:
    return Operation(
        trace_id="t", span_id=span_id, dialect="d", kind=kind, parent_span_id=parent, start_ns=1, end_ns=end_ns,
        is_stand_in=is_stand_in,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("operations", "closed"),
    [
        pytest.param([], False, id="nothing"),
        pytest.param([operation("a", "", AGENT), operation("b", "a", CALL)], True, id="root and child"),
        pytest.param([operation("b", "a", CALL)], False, id="the agent's span is still to come"),
        pytest.param([operation("b", "", CALL)], True, id="a bare model call"),
        pytest.param([operation("a", "x", AGENT), operation("b", "a", CALL)], True, id="agent under somebody's span"),
        pytest.param([operation("w", "x", WORKFLOW), operation("b", "w", CALL)], False, id="a chain of a larger chain"),
        pytest.param(
            [operation("h", "x", OTHER), operation("a", "h", WORKFLOW), operation("b", "a", CALL)],
            True,
            id="an HTTP server's span above, its caller elsewhere",
        ),
        pytest.param(
            [operation("a", "", AGENT), operation("d", "x", OTHER)], False, id="a database call of a tool still running"
        ),
        pytest.param(
            [operation("a", "", AGENT), operation("c", "b", CALL)], False, id="a hole between the root and a call"
        ),
        pytest.param([operation("a", None, AGENT)], False, id="a log record alone says nothing of the tree"),
        pytest.param(
            [operation("a", "", AGENT, is_stand_in=True), operation("b", "a", CALL, is_stand_in=True)],
            False,
            id="a turn of log records alone never shows its end",
        ),
        pytest.param([operation("a", "", AGENT, end_ns=0)], False, id="a span without an end"),
        pytest.param([operation("a", "b", AGENT), operation("b", "a", AGENT)], True, id="a circle ends somewhere"),
    ],
)
def test_a_trace_is_closed(operations, closed):
    assert is_closed(operations) is closed
    assert is_closed(reversed(operations)) is closed


CALL_STEP = ToolCallStep(name="find", arguments={})


@pytest.mark.parametrize(
    ("steps", "output", "kind", "awaits"),
    [
        pytest.param((CALL_STEP,), None, CALL, True, id="asked, not answered"),
        pytest.param((CALL_STEP,), "Found.", CALL, False, id="answered"),
        pytest.param((), None, CALL, False, id="nothing asked"),
        pytest.param((CALL_STEP, MessageStep(text="hm")), None, CALL, False, id="spoke last"),
        pytest.param((CALL_STEP,), None, AGENT, False, id="an agent's span says when it is over"),
    ],
)
def test_bare_calls_wait_for_their_tools(steps, output, kind, awaits):
    turn = Turn(index=0, trace_id="t", span_id="a", steps=steps, output=output)

    assert awaits_tools(turn, operation("a", "", kind)) is awaits


def test_a_deep_trace_is_walked_over_once_for_each_span():
    spans = [operation(str(n), str(n - 1) if n else "", CALL) for n in range(20_000)]

    assert is_closed(spans)
