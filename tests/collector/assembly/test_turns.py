from __future__ import annotations

import json
from typing import Any

import pytest

from collector.model import GapKind, HandoffStep, MessageStep, ToolCallStep, ToolResultStep, Turn, TurnStatus
from collector.telemetry.records import LogRecord, Span
from tests.support.genai_spans import agent, asks, calls, chat, log, rebuild, returns, says, span, system, tool

CALL = "call-00001"
OTHER = "call-00002"


def turns(*items: Span | LogRecord) -> tuple[Turn, ...]:
    (conversation,) = rebuild(items)
    return conversation.turns


def kinds(turn: Turn) -> list[str]:
    return [step.kind for step in turn.steps]


def test_the_target_is_the_outermost_agent_span() -> None:
    (turn,) = turns(
        span("http", {"http.route": "/chat"}, lasts=30),
        span("flow", {"gen_ai.operation.name": "invoke_workflow"}, at=1, lasts=25, parent="http"),
        span("clerk", agent("clerk", "Hi", "Hello"), at=2, lasts=20, parent="flow"),
        span("call", chat([asks("Hi")], "Hello"), at=3, lasts=5, parent="clerk"),
    )

    assert turn.span_id == span("flow", {}).span_id
    assert turn.agent == "clerk"


def test_many_turns_in_one_trace_are_told_apart() -> None:
    history: list[dict[str, Any]] = []
    items: list[Span | LogRecord] = [span("flow", {"gen_ai.operation.name": "invoke_workflow"}, lasts=900)]
    for number in range(3):
        history.append(asks(f"Q{number}"))
        items.append(span(f"agent{number}", agent("clerk"), at=number * 100, lasts=50, parent="flow"))
        items.append(span(f"call{number}", chat(history, f"A{number}"), at=number * 100 + 1, parent=f"agent{number}"))
        history.append(says(f"A{number}"))

    found = turns(*items)

    assert [(t.user_input, t.output) for t in found] == [("Q0", "A0"), ("Q1", "A1"), ("Q2", "A2")]
    assert [t.span_id for t in found] == [span(f"agent{n}", {}).span_id for n in range(3)]


def test_parallel_calls_keep_their_group_and_pair_by_id() -> None:
    wanted = calls(("weather", CALL, {"city": "Oslo"}), ("weather", OTHER, {"city": "Rome"}))
    history = [asks("Compare."), wanted, returns("warm", OTHER), returns("cold", CALL)]
    (turn,) = turns(
        span("c1", chat(history[:1], [wanted]), trace="a"),
        span("c2", chat(history, "Rome is warmer."), at=10, trace="b"),
    )

    assert kinds(turn) == ["tool_call", "tool_call", "tool_result", "tool_result"]
    groups = {step.group for step in turn.steps if isinstance(step, ToolCallStep)}
    results = {step.call_id: step.result for step in turn.steps if isinstance(step, ToolResultStep)}
    assert len(groups) == 1
    assert results == {CALL: "cold", OTHER: "warm"}


def test_results_without_ids_pair_by_order_and_repetitions_stay() -> None:
    once = calls(("poll", None, {}))
    history = [asks("Wait for it."), once, returns("busy"), once, returns("busy"), once, returns("done")]
    (turn,) = turns(
        span("c1", chat(history[:1], [once]), trace="a"),
        span("c2", chat(history[:3], [once]), at=10, trace="b"),
        span("c3", chat(history[:5], [once]), at=20, trace="c"),
        span("c4", chat(history, "It is done."), at=30, trace="d"),
    )

    assert [s.result for s in turn.steps if isinstance(s, ToolResultStep)] == ["busy", "busy", "done"]
    assert kinds(turn) == ["tool_call", "tool_result"] * 3


def test_a_call_in_message_span_and_second_span_counts_once() -> None:
    wanted = calls(("locate", CALL, {"id": 1}))
    (turn,) = turns(
        span("a", agent("clerk", "Where?", "Oslo."), lasts=100),
        span("c1", chat([asks("Where?")], [wanted]), at=1, parent="a"),
        span("t", tool("locate", {"id": 1}, "Oslo", call_id=CALL), at=10, lasts=9, parent="a"),
        span("server", tool("locate"), at=12, lasts=3, parent="t", service="tools", scope="mcp"),
        span("c2", chat([asks("Where?"), wanted, returns("Oslo", CALL)], "Oslo."), at=30, parent="a"),
    )

    assert kinds(turn) == ["tool_call", "tool_result"]
    call = turn.steps[0]
    assert isinstance(call, ToolCallStep)
    assert call.span_id == span("t", {}).span_id


def test_a_sub_agent_is_nested_under_the_call() -> None:
    (turn,) = turns(
        span("a", agent("clerk", "Where?", "Oslo."), lasts=100),
        span("c1", chat([asks("Where?")], [calls(("ask_archive", CALL, {"q": 1}))]), at=1, parent="a"),
        span("t", tool("ask_archive", {"q": 1}, "It is in Oslo", call_id=CALL), at=5, lasts=40, parent="a"),
        span("sub", agent("archivist", "Find 1", "It is in Oslo"), at=6, lasts=35, parent="t"),
        span("s1", chat([asks("Find 1")], [calls(("read", OTHER, {"n": 1}))]), at=7, parent="sub"),
        span("s2", tool("read", {"n": 1}, "Oslo", call_id=OTHER), at=12, parent="sub"),
        span("s3", chat([asks("Find 1"), calls(("read", OTHER, {"n": 1})), returns("Oslo", OTHER)], "It is in Oslo"),
             at=20, parent="sub"),
        span("c2", chat([asks("Where?")], "Oslo."), at=60, parent="a"),
    )  # fmt: skip

    nested = [step for step in turn.steps if getattr(step, "parent_call_id", None) == CALL]
    assert (turn.user_input, turn.output) == ("Where?", "Oslo.")
    assert kinds(turn) == ["tool_call", "tool_call", "tool_result", "tool_result"]
    assert [step.kind for step in nested] == ["tool_call", "tool_result"]
    assert {step.agent for step in nested if isinstance(step, ToolCallStep)} == {"archivist"}


def test_a_handoff_is_a_step_and_one_conversation() -> None:
    handed = calls(("transfer_to_billing", CALL, {}))
    (conversation,) = rebuild([
        span("flow", {"gen_ai.operation.name": "invoke_workflow"}, lasts=100),
        span("a", agent("triage"), at=1, lasts=20, parent="flow"),
        span("c1", chat([system("You are triage."), asks("A refund.")], [handed]), at=2, parent="a"),
        span("b", agent("billing"), at=30, lasts=20, parent="flow"),
        span("c2", chat([system("You are billing."), asks("A refund."), handed, returns("ok", CALL)], "Done."),
             at=31, parent="b"),
    ])  # fmt: skip

    (turn,) = conversation.turns
    assert HandoffStep("billing", "triage", span("c1", {}).span_id) in turn.steps
    assert turn.agent == "billing"
    assert turn.output == "Done."
    assert conversation.system_instructions == "You are triage.\n\nYou are billing."


def test_a_call_that_no_user_saw_is_no_turn() -> None:
    route = chat([system("Pick a desk."), asks("A refund.")], '{"desk": "billing"}')
    (turn,) = turns(
        span("a", agent("desk", "A refund.", "Done."), lasts=100),
        span("router", route, at=1, parent="a"),
        span("c", chat([system("You are billing."), asks("A refund.")], "Done."), at=20, parent="a"),
    )

    assert turn.steps == ()
    assert turn.output == "Done."


def test_words_said_on_the_way_are_steps() -> None:
    wanted = {"role": "assistant", "parts": [*says("Let me look.")["parts"], *calls(("locate", CALL, {}))["parts"]]}
    (turn,) = turns(
        span("c1", chat([asks("Where?")], [wanted]), trace="a"),
        span("c2", chat([asks("Where?"), wanted, returns("Oslo", CALL)], "Oslo."), at=10, trace="b"),
    )

    assert kinds(turn) == ["message", "tool_call", "tool_result"]
    assert isinstance(turn.steps[0], MessageStep)
    assert turn.steps[0].text == "Let me look."


def test_usage_is_counted_once() -> None:
    tokens = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2}
    (turn,) = turns(
        span("a", agent("clerk", "Hi", "Hello", **{"gen_ai.usage.input_tokens": 10}), lasts=50),
        span("c", chat([asks("Hi")], "Hello", **tokens), at=1, lasts=20, parent="a", scope="framework"),
        span("p", chat([asks("Hi")], "Hello", **tokens), at=2, lasts=10, parent="c", scope="provider"),
    )

    assert (turn.input_tokens, turn.output_tokens) == (10, 2)


def test_earlier_turns_known_from_a_replay_only_are_kept_and_named() -> None:
    history = [asks("Hi"), says("Hello"), asks("More")]

    found = turns(span("c", chat(history, "Sure")))

    assert [(t.user_input, t.output) for t in found] == [("Hi", "Hello"), ("More", "Sure")]
    assert found[0].gaps == (GapKind.HISTORY_UNSEEN,)
    assert found[1].gaps == ()


def test_a_missing_answer_is_filled_from_a_later_replay() -> None:
    found = turns(
        span("c1", chat([asks("Hi")], None, **{"gen_ai.conversation.id": "c"}), trace="a"),
        span("c2", chat([asks("Hi"), says("Hello"), asks("More")], "Sure", **{"gen_ai.conversation.id": "c"}), at=99,
             trace="b"),
    )  # fmt: skip

    assert [(t.user_input, t.output) for t in found] == [("Hi", "Hello"), ("More", "Sure")]
    assert found[0].gaps == ()


def test_the_same_words_without_history_are_turns_of_their_own() -> None:
    name = {"gen_ai.conversation.id": "c"}

    found = turns(
        span("c1", chat([asks("Next")], "One", **name), trace="a"),
        span("c2", chat([asks("Next")], "Two", **name), at=99, trace="b"),
    )

    assert [t.output for t in found] == ["One", "Two"]


def test_multimodal_input_is_named() -> None:
    picture = {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "aGk="}
    message = {"role": "user", "parts": [{"type": "text", "content": "What is this?"}, picture]}

    (turn,) = turns(span("c", chat([message], "A cat.")))

    assert turn.user_input == "What is this?\n[image]"


NAMED = {"gen_ai.conversation.id": "c"}
PENDING = calls(("locate", CALL, {"id": 1}))
LONG = chat([asks("Hi")], "Hello")
GAPS: list[Any] = [
    pytest.param(
        [span("c", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"})],
        {GapKind.CONTENT_OFF},
        id="content-off",
    ),
    pytest.param(
        [
            span("c", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}),
            log("gen_ai.user.message", None, span_id="c", at=1),
            log("gen_ai.choice", {"index": 0, "message": {"role": "assistant"}}, span_id="c", at=2),
        ],
        {GapKind.CONTENT_OFF},
        id="content-off-in-events",
    ),
    pytest.param(
        [
            span(
                "c",
                {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages_ref": "s3://b/1"},
            )
        ],
        {GapKind.CONTENT_ELSEWHERE, GapKind.USER_INPUT_MISSING, GapKind.OUTPUT_MISSING},
        id="content-elsewhere",
    ),
    pytest.param([span("c", chat([], "Hello"))], {GapKind.USER_INPUT_MISSING}, id="user-input-missing"),
    pytest.param([span("c", chat([asks("Hi")], None))], {GapKind.OUTPUT_MISSING}, id="output-missing"),
    pytest.param(
        [
            span("a", agent("clerk", "Where?", "Oslo."), lasts=50),
            span("c1", chat([asks("Where?")], [PENDING]), at=1, parent="a"),
            span("t", tool("locate", {"id": 1}, call_id=CALL), at=9, parent="a"),
            span("c2", chat([asks("Where?")], "Oslo."), at=20, parent="a"),
        ],
        {GapKind.TOOL_RESULT_MISSING},
        id="tool-result-missing",
    ),
    pytest.param(
        [
            span("a", agent("clerk", "Where?", "Oslo."), lasts=50),
            span("t", tool("locate", result="Oslo", call_id=CALL), at=9, parent="a"),
            span("c2", chat([asks("Where?")], "Oslo."), at=20, parent="a"),
        ],
        {GapKind.TOOL_ARGUMENTS_MISSING},
        id="tool-arguments-missing",
    ),
    pytest.param(
        [span("c", chat([asks("Where?"), returns("Oslo", CALL)], "Oslo."))], {GapKind.ORPHAN_RESULT}, id="orphan-result"
    ),
    pytest.param([span("c", chat([asks("Hi [TRUNCATED]")], "Hello"))], {GapKind.TRUNCATED}, id="truncated-marker"),
    pytest.param(
        [span("c", LONG | {"gen_ai.output.messages": LONG["gen_ai.output.messages"][:-9]})],
        {GapKind.TRUNCATED},
        id="cut-json",
    ),
    pytest.param(
        [span("c", chat([asks("Hi")], "Hello"), dropped=3)], {GapKind.ATTRIBUTES_DROPPED}, id="attributes-dropped"
    ),
    pytest.param([span("c", chat([asks("__REDACTED__")], "Hello"))], {GapKind.REDACTED}, id="redacted"),
    pytest.param(
        [
            span("c1", chat([asks("Hi")], "Hello", **NAMED), trace="a"),
            span("c2", chat([asks("Hi"), says("Good evening"), asks("More")], "Sure", **NAMED), at=99, trace="b"),
        ],
        {GapKind.HISTORY_EDITED},
        id="history-edited",
    ),
    pytest.param(
        [span("c", chat([asks("Hi")], "Hello", **{"gen_ai.conversation.compacted": True}))],
        {GapKind.HISTORY_COMPACTED},
        id="history-compacted",
    ),
    pytest.param([span("c", chat([asks("Hi")], "Hello"), parent="gone")], {GapKind.SPANS_MISSING}, id="spans-missing"),
    pytest.param(
        [span("c", chat([asks("Hi")], "Hello") | {"gen_ai.input.messages": "[nope]"})],
        {GapKind.UNDECODABLE, GapKind.USER_INPUT_MISSING},
        id="undecodable",
    ),
]


@pytest.mark.parametrize(("items", "expected"), GAPS)
def test_each_gap_is_named(items: list[Span | LogRecord], expected: set[GapKind]) -> None:
    found = turns(*items)

    assert {gap for turn in found for gap in turn.gaps} == expected


def test_a_complete_turn_has_no_gap_although_one_source_was_cut() -> None:
    whole = chat([asks("Hi")], "Hello")
    cut = whole | {"gen_ai.input.messages": whole["gen_ai.input.messages"][:-4]}
    details = log("gen_ai.client.inference.operation.details", None, span_id="c", attributes=whole)

    (turn,) = turns(span("c", cut), details)

    assert turn.gaps == ()


def test_a_failed_turn_says_so() -> None:
    (turn,) = turns(span("c", chat([asks("Hi")], None), error=True))

    assert turn.status is TurnStatus.ERROR
    assert turn.output is None


def test_a_call_that_the_framework_tried_twice_is_one_call() -> None:
    history = [asks("Refund it"), calls(("refund", "call-00001", {"id": 7}))]
    (turn,) = turns(
        span("top", agent("clerk", "Refund it", "Done"), lasts=100),
        span("m1", chat(history[:1], history[1:]), at=1, parent="top"),
        span("t1", tool("refund", {"id": 7}), at=10, parent="top", error=True),
        span("t2", tool("refund", {"id": 7}, "booked"), at=20, parent="top"),
        span("m2", chat([*history, returns("booked", "call-00001")], "Done"), at=30, parent="top"),
    )

    assert [step.kind for step in turn.steps] == ["tool_call", "tool_result"]
    assert isinstance(turn.steps[1], ToolResultStep)
    assert turn.steps[1].result == "booked"


def test_an_agent_that_stands_for_the_user_and_runs_the_tools_is_no_turn() -> None:
    def spoken(*messages: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        return chat(messages, [answer]) | {"gen_ai.operation.name": "invoke_agent"}

    wanted, result = calls(("locate", "call-00001", {"id": 1})), returns("Oslo", "call-00001")
    silent = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    (turn,) = turns(
        span("talk", {"gen_ai.operation.name": "conversation"}, lasts=90),
        span("a1", spoken(asks("Where?"), answer=wanted), at=1, lasts=5, parent="talk"),
        span("m1", silent, at=2, parent="a1"),
        span("p1", spoken(asks("Hello."), wanted, answer=result), at=10, lasts=9, parent="talk"),
        span("t1", tool("locate", {"id": 1}, "Oslo", call_id="call-00001"), at=12, parent="p1"),
        span("a2", spoken(asks("Where?"), wanted, result, answer=says("In Oslo.")), at=20, lasts=5, parent="talk"),
        span("m2", silent, at=21, parent="a2"),
        span("p2", spoken(says("Where?"), asks("In Oslo."), answer=says("")), at=30, parent="talk"),
    )

    assert (turn.user_input, turn.output) == ("Where?", "In Oslo.")
    assert [step.kind for step in turn.steps] == ["tool_call", "tool_result"]


def test_a_call_whose_parent_never_arrived_belongs_to_the_agent_around_it() -> None:
    (turn,) = turns(
        span("top", agent("clerk", "Where?", "In Oslo."), lasts=90),
        span("m1", chat([system("Be brief."), asks("Where?")], "In Oslo."), at=5, parent="lost"),
    )

    assert (turn.user_input, turn.output, turn.gaps) == ("Where?", "In Oslo.", (GapKind.SPANS_MISSING,))


def test_parts_of_a_trace_whose_root_never_arrived_stay_side_by_side() -> None:
    found = turns(
        span("a", agent("clerk", "Where?", "In Oslo."), lasts=90, parent="lost"),
        span("b", agent("guide", "When?", "At nine."), at=5, parent="lost"),
    )

    assert [(turn.user_input, turn.output) for turn in found] == [("Where?", "In Oslo."), ("When?", "At nine.")]


def test_an_agent_that_a_tool_ran_beside_it_is_nested_under_the_call() -> None:
    wanted, result = calls(("ask_clerk", "call-00001", {"q": "place of it"})), returns("Oslo", "call-00001")
    (turn,) = turns(
        span("top", {"gen_ai.operation.name": "invoke_workflow"}, lasts=100),
        span("desk", agent("desk"), at=1, lasts=98, parent="top"),
        span("m1", chat([asks("Where?")], [wanted]), at=2, parent="desk"),
        span("t1", tool("ask_clerk", {"q": "place of it"}, "Oslo"), at=10, lasts=50, parent="desk"),
        span("clerk", agent("clerk"), at=11, lasts=40, parent="top"),
        span("m2", chat([system("Look up."), asks("place of it")], "Oslo"), at=12, parent="clerk"),
        span("t2", tool("look_up", {"key": "it"}, "Oslo"), at=20, parent="clerk"),
        span("m3", chat([asks("Where?"), wanted, result], "In Oslo."), at=70, parent="desk"),
    )

    assert (turn.user_input, turn.output) == ("Where?", "In Oslo.")
    assert [(step.kind, getattr(step, "name", None)) for step in turn.steps] == [
        ("tool_call", "ask_clerk"),
        ("tool_call", "look_up"),
        ("tool_result", "look_up"),
        ("tool_result", "ask_clerk"),
    ]


def test_of_agents_that_ran_side_by_side_the_one_is_heard_whose_answer_was_gone_on_from() -> None:
    first, second = turns(
        span("top", {"gen_ai.operation.name": "invoke_workflow"}, lasts=50),
        span("m1", chat([system("You are the clerk."), asks("Open?")], "Until six."), at=2, parent="top"),
        span("m2", chat([system("You are the guard."), asks("Open?")], "safe"), at=3, parent="top"),
        span("m3", chat([asks("Open?"), says("Until six."), asks("Thanks")], "Bye."), at=90, trace="t2"),
    )

    assert (first.output, first.steps, first.gaps) == ("Until six.", (), ())
    assert second.output == "Bye."


def test_what_was_asked_may_be_said_far_inside_of_nothing_but_wrappers() -> None:
    flow = {"gen_ai.operation.name": "invoke_workflow"}
    (turn,) = turns(
        span("flow", flow | {"gen_ai.output.messages": json.dumps([says("IN OSLO.")])}, lasts=90),
        span("step", flow, at=1, lasts=80, parent="flow"),
        span("crew", flow | {"gen_ai.input.messages": json.dumps([asks("Where?")])}, at=2, lasts=70, parent="step"),
    )

    assert (turn.user_input, turn.output) == ("Where?", "IN OSLO.")


def test_steps_of_a_chain_that_a_user_never_saw_say_nothing_and_set_no_prompt() -> None:
    def step(name: str, told: str, at: int) -> Span:
        given = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.output.messages": json.dumps([says(told)])}
        return span(name, given, at=at, lasts=5, parent="top")

    (conversation,) = rebuild([
        span("top", agent("flow", "Where?", "In Oslo."), lasts=90),
        step("rewrite", "place of it", 1),
        span("m1", chat([system("Rewrite."), asks("Where?")], "place of it"), at=2, parent="rewrite"),
        step("answer", "In Oslo.", 10),
        span("m2", chat([system("Be brief."), asks("Where?")], "In Oslo."), at=11, parent="answer"),
        step("grade", "good", 20),
        span("m3", chat([system("Grade."), asks("Q: Where? A: In Oslo.")], "good"), at=21, parent="grade"),
    ])  # fmt: skip

    (turn,) = conversation.turns
    assert (turn.user_input, turn.steps, turn.output) == ("Where?", (), "In Oslo.")
    assert conversation.system_instructions == "Be brief."


@pytest.mark.parametrize("beside", [chat([asks("Hello.")], "Hello!"), agent("clerk", "Hello.", "Hello!")])
def test_a_step_that_is_called_an_agent_and_says_nothing_is_no_turn(beside: dict[str, Any]) -> None:
    spans = [
        span("r", {"http.route": "/chat"}, lasts=20),
        span("g", agent("before_model"), at=1, parent="r"),
        span("c", beside, at=5, parent="r"),
    ]

    (conversation,) = rebuild(spans)

    assert [(turn.user_input, turn.output) for turn in conversation.turns] == [("Hello.", "Hello!")]
    assert conversation.turns[0].gaps == ()
