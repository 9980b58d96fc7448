"""The record of the turns that are new, for a judge who knows the ones before from notes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from collector.model import ToolDefinition, ToolResultStep
from evaluators.transcript.fence import Fence
from evaluators.transcript.record import record_of
from evaluators.transcript.signature import signature_text
from tests.support.conversation_strategies import conversations
from tests.support.conversations import ConversationBuilder, tool

FENCE = Fence(b"0123456789abcdef")


def new_turns(conversation, first, *, max_tokens=10**9):
    return record_of(conversation, fence=FENCE, max_tokens=max_tokens, first_turn=first)


@given(conversations())
@settings(max_examples=25, deadline=None)
def test_no_text_of_a_conversation_begins_a_line(conversation):
    for first in range(1, len(conversation.turns)):
        record = new_turns(conversation, first)

        assert all(line.startswith(("| ", "@ ", f"#{record.mark} ")) for line in record.text.split("\n")[:-1])
        assert record.text.splitlines() == record.text.split("\n")[:-1]
        assert record.coverage == 1.0


@given(conversations())
@settings(max_examples=20, deadline=None)
def test_the_new_turns_are_written_as_in_the_record_of_the_whole(conversation):
    whole = record_of(conversation, fence=FENCE, max_tokens=10**9).text

    for first in range(1, len(conversation.turns)):
        start = record_of(replace(conversation, turns=conversation.turns[:first]), fence=FENCE, max_tokens=10**9)
        assert new_turns(conversation, first).text.endswith(whole.removeprefix(start.text))


def test_what_new_turns_cannot_do_without_stands_before_them():
    tools = (tool("look_up", "Looks up.", id={"type": "string"}), tool("send", "Sends."))
    conversation = (
        ConversationBuilder(system="Be kind.", tools=tools)
        .turn("One.")
        .call("look_up", {"id": "1"}, result="a")
        .call("send", result="sent")
        .answer("Shall I go on? " + "Please say. " * 60)
        .turn("Yes.")
        .call("look_up", {"id": "2"}, result="b")
        .answer("Done.")
        .build()
    )

    text = new_turns(conversation, 1).text.replace(FENCE.mark(conversation.key), "M")

    head, cut, rest = text.partition("#M cut 335 characters\n")
    assert cut
    assert head.startswith(
        "#M system\n| Be kind.\n"
        "#M tools called below\n| look_up(id: string) Looks up.\n"
        "#M cut turns t0 to t0\n"
        "#M calls before\n| look_up 1, send 1\n"
        "#M t0.answer\n| Shall I go on? Please say."
    )
    assert rest.endswith(
        '#M t1.user\n| Yes.\n#M t1.0 call\n| look_up {"id": "2"}\n#M t1.1 result of t1.0\n| b\n#M t1.answer\n| Done.\n'
    )


def test_without_a_system_prompt_the_first_words_of_the_user_stay():
    conversation = ConversationBuilder().turn("Be a pirate.").answer("Arr.").turn("Hi.").answer("Ahoy.").build()

    assert "t0.user\n| Be a pirate.\n" in new_turns(conversation, 1).text


def test_a_result_that_comes_late_names_its_call_in_an_earlier_turn():
    conversation = (
        ConversationBuilder()
        .turn("Go.")
        .call("act", call_id="a")
        .answer("Waiting.")
        .turn("And?")
        .answer("Done.")
        .build()
    )
    late = replace(conversation.turns[1], steps=(ToolResultStep(result="ok", name="act", call_id="a"),))

    text = new_turns(replace(conversation, turns=(conversation.turns[0], late)), 1).text

    assert "t1.0 result of t0.0\n| ok" in text


def test_agent_turns_are_those_that_are_new():
    conversation = ConversationBuilder().turn("A").answer("B").turn("C").answer("D").turn("E").answer("F").build()

    assert new_turns(conversation, 2).agent_turns == (2,)


def test_the_budget_holds_for_new_turns_too():
    conversation = ConversationBuilder(system="s" * 50_000).turn("A").answer("B").turn("x" * 90_000).answer("F").build()

    record = new_turns(conversation, 1, max_tokens=2000)

    assert record.tokens <= 2000
    assert record.coverage < 0.1


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        pytest.param(
            tool("book", "Books a room.", room={"type": "string"}), "book(room: string) Books a room.", id="plain"
        ),
        pytest.param(
            ToolDefinition(
                "book",
                None,
                {"properties": {"a": {"type": "integer"}, "view": {"enum": ["sea", 2]}}, "required": ["a"]},
            ),
            'book(a: integer, view: "sea"|2?)',
            id="optional and enumerated",
        ),
        pytest.param(ToolDefinition("ping"), "ping()", id="nothing known"),
        pytest.param(ToolDefinition("ping", None, {"$ref": "x"}), "ping(...)", id="a schema of another form"),
        pytest.param(
            ToolDefinition("a\n| b", "x" * 300, {"properties": {"p q": {"type": ["string", "null"]}, "r": True}}),
            '"a\\n| b"("p q": any, r: any) ' + "x" * 200,
            id="odd names and forms",
        ),
        pytest.param(
            ToolDefinition("pick", None, {"properties": {"n": {"enum": list(range(20))}}}),
            "pick(n: 0|1|2|3|4|5|6|7|...)",
            id="many values",
        ),
    ],
)
def test_a_definition_in_one_line(definition, expected):
    assert signature_text(definition) == expected
