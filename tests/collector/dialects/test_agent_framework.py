from __future__ import annotations

from tests.support.genai_spans import agent, asks, calls, chat, rebuild, returns, says, span, tool
from tests.support.two_turns import (
    ARGUMENTS,
    ASKED,
    ASKED_NEXT,
    CALL,
    RESULT,
    TOLD,
    TOLD_NEXT,
    TOOL,
    WHOLE,
    shown,
)

SCOPE = "agent_framework"


def test_a_workflows_run_is_the_turn_and_its_plumbing_is_none() -> None:
    def run(name: str, at: int, trace: str) -> list[object]:
        return [
            span(name, {"workflow.id": "w-1", "workflow.name": "desk"}, at=at, lasts=20, trace=trace, scope=SCOPE,
                 name="workflow.run"),
            span("b", {"workflow.id": "w-1"}, at=at, trace=f"b{trace}", scope=SCOPE, name="workflow.build"),
            span("e", {"executor.id": "clerk"}, at=at + 1, lasts=15, trace=trace, parent=name, scope=SCOPE,
                 name="executor.process clerk"),
            span("m", {"message.source_id": "x"}, at=at + 1, trace=trace, parent="e", scope=SCOPE, name="message.send"),
        ]  # fmt: skip

    use, gave = calls((TOOL, CALL, ARGUMENTS)), returns(RESULT, CALL)
    where = {"scope": SCOPE, "parent": "a"}
    history = [asks(ASKED), use, gave, says(TOLD), asks(ASKED_NEXT)]
    spans = [
        *run("w1", 0, "t1"),
        span("a", agent("clerk", ASKED, TOLD), at=2, lasts=10, scope=SCOPE, parent="e"),
        span("c1", chat([asks(ASKED)], [use]), at=3, **where),
        span("t", tool(TOOL, ARGUMENTS, RESULT, call_id=CALL), at=5, **where),
        span("c2", chat([asks(ASKED), use, gave], TOLD), at=7, **where),
        *run("w2", 40, "t2"),
        span("a", agent("clerk", ASKED_NEXT, TOLD_NEXT), at=42, lasts=10, trace="t2", scope=SCOPE, parent="e"),
        span("c3", chat(history, TOLD_NEXT), at=43, trace="t2", **where),
    ]

    (conversation,) = rebuild(spans)  # type: ignore[arg-type]  # spans all

    assert shown(conversation) == WHOLE
    assert bytes.fromhex(conversation.turns[0].span_id).startswith(b"w1")
