from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from collector.assembly.link import link
from collector.assembly.link_keys import link_keys
from collector.assembly.merge import settle
from collector.model import Conversation, ConversationIdSource
from collector.operation import Operation
from collector.telemetry.records import LogRecord, Span
from tests.support.genai_spans import agent, asks, calls, chat, read_all, rebuild, returns, says, span, system, tool


def talk(words: Sequence[tuple[str, str]], *, prefix: str, at: int = 0, service: str = "shop") -> list[Span]:
    """Each turn a trace of its own that replays the history and names no conversation."""
    history = [system("Be brief.")]
    found: list[Span] = []
    for turn, (asked, told) in enumerate(words):
        history.append(asks(asked))
        found.append(
            span(f"{prefix}{turn}", chat(history, told), at=at + turn * 100, trace=f"{prefix}{turn}", service=service)
        )
        history.append(says(told))
    return found


def texts(conversation: Conversation) -> list[tuple[str | None, str | None]]:
    return [(turn.user_input, turn.output) for turn in conversation.turns]


def test_turns_without_ids_are_joined_by_history() -> None:
    words = [("Hi", "Hello"), ("Is it open?", "Yes"), ("Until when?", "Six")]

    (conversation,) = rebuild(talk(words, prefix="a"))

    assert conversation.conversation_id_source is ConversationIdSource.HISTORY
    assert texts(conversation) == words


def test_users_whose_conversations_begin_alike_are_never_merged() -> None:
    first = [("Hi", "Hello"), ("Is it open?", "Yes"), ("Thanks", "Bye")]
    second = [("Hi", "Hello"), ("Is it open?", "Yes"), ("And tomorrow?", "No")]
    third = [("Hi", "Hello")]

    found = rebuild([*talk(first, prefix="a"), *talk(second, prefix="b", at=7), *talk(third, prefix="c", at=15)])

    assert sorted(map(texts, found), key=str) == sorted([first, second, third], key=str)


def test_a_second_continuation_of_one_known_list_is_another_conversation() -> None:
    one = talk([("Hi", "Hello"), ("A", "a")], prefix="a")
    other = talk([("Hi", "Hello"), ("B", "b")], prefix="b", at=50)[1:]  # whose first turn never arrived

    found = rebuild([*one, *other])

    assert len(found) == 2


def test_a_retry_after_a_failure_is_no_other_conversation() -> None:
    start = talk([("Hi", "Hello")], prefix="a")
    history = [system("Be brief."), asks("Hi"), says("Hello"), asks("More")]
    failed = span("f", chat(history, None), at=100, trace="f", error=True)
    again = span("g", chat(history, "Sure"), at=200, trace="g")

    (conversation,) = rebuild([*start, failed, again])

    assert texts(conversation) == [("Hi", "Hello"), ("More", "Sure")]


def test_equal_ids_and_words_in_two_services_never_mix() -> None:
    words = [("Hi", "Hello"), ("More", "Sure")]
    items = [*talk(words, prefix="a", service="one"), *talk(words, prefix="b", service="two", at=3)]
    named = [
        span("x", chat([asks("Q")], "A", **{"gen_ai.conversation.id": "c-1"}), trace="x", service="one"),
        span("y", chat([asks("Q")], "A", **{"gen_ai.conversation.id": "c-1"}), trace="y", service="two"),
    ]

    found = rebuild([*items, *named])

    assert sorted((c.service, len(c.turns)) for c in found) == [("one", 1), ("one", 2), ("two", 1), ("two", 2)]


def test_conversations_with_different_ids_stay_apart_whatever_they_say() -> None:
    history = [asks("Hi"), says("Hello"), asks("More")]
    one = span("a", chat([asks("Hi")], "Hello", **{"gen_ai.conversation.id": "c-1"}), trace="a")
    two = span("b", chat(history, "Sure", **{"gen_ai.conversation.id": "c-2"}), at=100, trace="b")

    found = rebuild([one, two])

    assert sorted(c.conversation_id for c in found) == ["c-1", "c-2"]


def test_the_same_time_joins_nothing() -> None:
    one = span("a", chat([asks("Hi")], "Hello"), trace="a")
    two = span("b", chat([asks("Good day")], "Hello"), trace="b")

    assert len(rebuild([one, two])) == 2


def test_a_chain_of_previous_responses_is_one_conversation() -> None:
    key = "gen_ai.request.previous_response.id"
    one = span("a", chat([asks("Hi")], "Hello", **{"gen_ai.response.id": "resp-1"}), trace="a")
    two = span("b", chat([asks("More")], "Sure", **{key: "resp-1", "gen_ai.response.id": "resp-2"}), at=100, trace="b")

    (conversation,) = rebuild([two, one])

    assert conversation.conversation_id_source is ConversationIdSource.RESPONSE_ID
    assert texts(conversation) == [("Hi", "Hello"), ("More", "Sure")]


def test_a_conversation_id_that_is_a_response_id_is_a_reference() -> None:
    one = span("a", chat([asks("Hi")], "Hello", **{"gen_ai.response.id": "resp-1"}), trace="a")
    two = span("b", chat([asks("More")], "Sure", **{"gen_ai.conversation.id": "resp-1"}), at=100, trace="b")

    (conversation,) = rebuild([one, two])

    assert conversation.conversation_id_source is ConversationIdSource.RESPONSE_ID
    assert len(conversation.turns) == 2


def test_only_new_items_are_joined_by_the_tool_call_they_answer() -> None:
    asked = chat([asks("Where is it?")], [calls(("locate", "call-00001", {"id": 1}))])
    answered = chat([returns("Oslo", "call-00001")], "In Oslo.")

    (conversation,) = rebuild([span("b", answered, at=50, trace="b"), span("a", asked, trace="a")])

    (turn,) = conversation.turns
    assert (turn.user_input, turn.output) == ("Where is it?", "In Oslo.")
    assert [step.kind for step in turn.steps] == ["tool_call", "tool_result"]


def test_counters_are_no_tool_call_ids() -> None:
    one = span("a", chat([asks("Where is it?")], [calls(("locate", "call_1", {"id": 1}))]), trace="a")
    two = span("b", chat([returns("Oslo", "call_1")], "In Oslo."), at=50, trace="b")

    assert len(rebuild([one, two])) == 2


def test_the_same_call_seen_twice_in_two_traces_counts_once() -> None:
    words = chat([asks("Hi")], "Hello", **{"gen_ai.usage.input_tokens": 3})
    framework = span("a", words | {"gen_ai.conversation.id": "c-1"}, lasts=10, trace="a", scope="framework")
    provider = span("b", words, at=2, lasts=5, trace="b", scope="provider")

    (conversation,) = rebuild([provider, framework])

    (turn,) = conversation.turns
    assert conversation.conversation_id == "c-1"
    assert turn.input_tokens == 3


def test_a_trace_over_many_conversations_is_cut() -> None:
    job = span("job", {}, lasts=500)
    items: list[Span | LogRecord] = [job]
    for number in range(3):
        name = {"gen_ai.conversation.id": f"c-{number}"}
        items.append(
            span(f"a{number}", agent("clerk", f"Q{number}", f"A{number}", **name), at=number * 100, parent="job")
        )

    found = rebuild(items)

    assert [c.conversation_id for c in found] == ["c-0", "c-1", "c-2"]


@pytest.mark.parametrize("seed", range(5))
def test_keys_find_every_trace_of_a_conversation(seed: int) -> None:
    """What live state does: it only looks at traces that share a key."""
    words = [(f"question {n}", f"answer {n}") for n in range(6)]
    items: list[Span] = [*talk(words, prefix="a"), *talk([("question 0", "answer 0"), ("x", "y")], prefix="b", at=9)]
    items += [
        span("c1", chat([asks("Where?")], [calls(("locate", "call-00001", {}))]), at=3, trace="c1"),
        span("c2", chat([returns("Oslo", "call-00001")], "In Oslo."), at=50, trace="c2"),
    ]
    random.Random(seed).shuffle(items)
    operations = [settle(operation) for operation in read_all(items)]
    by_trace: dict[str, list[Operation]] = {}
    for operation in operations:
        by_trace.setdefault(operation.trace_id, []).append(operation)
    keys = {trace: link_keys(own) for trace, own in by_trace.items()}

    for group in link(operations):
        traces = {operation.trace_id for operation in group}
        reached = {min(traces)}
        for _ in traces:
            near = {
                other
                for other in traces
                for one in reached
                if keys[one].provides & set(keys[other].needs) or keys[other].provides & set(keys[one].needs)
            }
            reached |= near
        assert reached == traces


def test_what_a_sub_agent_calls_its_own_conversation_is_nested_under_the_call() -> None:
    outer, inner = {"gen_ai.conversation.id": "c-outer"}, {"gen_ai.conversation.id": "c-inner"}
    items = [
        span("top", agent("desk", "Where is it?", "In Oslo.", **outer), lasts=100),
        span("ask", tool("ask_clerk", {"q": "place"}, "Oslo") | outer, at=10, lasts=50, parent="top"),
        span("sub", agent("clerk", "place", "Oslo", **inner), at=20, lasts=30, parent="ask"),
        span("look", tool("look_up", {"key": "place"}, "Oslo") | inner, at=30, parent="sub"),
    ]

    (conversation,) = rebuild(items)

    (turn,) = conversation.turns
    assert conversation.conversation_id == "c-outer"
    assert [(step.kind, getattr(step, "name", None)) for step in turn.steps] == [
        ("tool_call", "ask_clerk"),
        ("tool_call", "look_up"),
        ("tool_result", "look_up"),
        ("tool_result", "ask_clerk"),
    ]
