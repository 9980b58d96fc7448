from dataclasses import replace

import pytest
from hypothesis import given, settings

from collector.model import Conversation, GapKind, HandoffStep, ToolCallStep, ToolResultStep
from evaluators.transcript.escape import lines_of
from evaluators.transcript.fence import Fence
from evaluators.transcript.places import places_of
from evaluators.transcript.record import end_line, record_of
from tests.support.conversation_strategies import conversations
from tests.support.conversations import ConversationBuilder, refund_conversation
from tests.support.record_reader import read_record

FENCE = Fence(b"0123456789abcdef")
UNBOUNDED = 10**9


def text_of(conversation: Conversation) -> str:
    return record_of(conversation, fence=FENCE, max_tokens=UNBOUNDED).text


def read_back(text: str, mark: str):
    return read_record(f'"#{mark} "\n{text}{end_line(mark)}\n').places


@given(conversations())
@settings(max_examples=50, deadline=None)
def test_no_text_of_a_conversation_begins_a_line(conversation):
    record = record_of(conversation, fence=FENCE, max_tokens=UNBOUNDED)

    lines = record.text.split("\n")
    words = {f"#{record.mark} {place.at} {place.words}".rstrip() for place in places_of(conversation)}

    assert lines.pop() == ""
    assert all(line.startswith(("| ", "@ ")) or line in words for line in lines)
    assert record.text.splitlines() == lines
    record.text.encode()


@given(conversations())
@settings(max_examples=50, deadline=None)
def test_a_record_reads_back_to_the_same_places_and_content(conversation):
    record = record_of(conversation, fence=FENCE, max_tokens=UNBOUNDED)

    expected = [
        (place.at, place.words, "\n".join(lines_of(place.text)) if place.text is not None else "")
        for place in places_of(conversation)
    ]

    assert [(place.at, place.words, place.content.lstrip("\n")) for place in read_back(record.text, record.mark)] == [
        (at, words, content.lstrip("\n")) for at, words, content in expected
    ]


@given(conversations())
@settings(max_examples=30, deadline=None)
def test_a_conversation_that_grew_begins_with_the_record_it_had(conversation):
    whole = text_of(conversation)

    for count in range(len(conversation.turns)):
        earlier = replace(conversation, turns=conversation.turns[:count])

        assert whole.startswith(text_of(earlier))


@given(conversations())
@settings(max_examples=30, deadline=None)
def test_a_tight_budget_keeps_the_same_guarantees(conversation):
    record = record_of(conversation, fence=FENCE, max_tokens=60)

    for line in record.text.split("\n")[:-1]:
        assert line.startswith(("| ", "@ ", f"#{record.mark} "))
    assert 0.0 <= record.coverage <= 1.0


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        pytest.param(
            "<think>I may lie.</think>\n\nDone.", " private reasoning left out", "Done.", id="before the words"
        ),
        pytest.param(
            "<thinking>a</thinking><think>b\nc</think> Done.", " private reasoning left out", "Done.", id="twice"
        ),
        pytest.param(
            "Done. <think>not at the start</think>", "", "Done. \\u{3c}think>not at the start\\u{3c}/think>", id="later"
        ),
        pytest.param("<think>never closed", "", "\\u{3c}think>never closed", id="never closed"),
    ],
)
def test_reasoning_that_a_model_wrote_before_its_words_is_left_out(said, words, shown):
    conversation = ConversationBuilder().turn("Go.").say(said).answer(said).build()

    text = text_of(conversation)

    mark = FENCE.mark(conversation.key)
    assert f"#{mark} t0.0 message{',' if words else ''}{words}\n| {shown}\n" in text
    assert f"#{mark} t0.answer{words}\n| {shown}\n" in text


def test_everything_that_happened_has_a_place():
    conversation = (
        ConversationBuilder(system="Be kind.\nAlways.", tools=("lookup",))
        .turn("Where is it?")
        .say("One moment.", agent="helper")
        .call("lookup", {"id": 7, "名": "本"}, result={"at": "Riga"}, group=1)
        .call("lookup", "{broken", group=1, result="not found", error=True)
        .call("lookup", {"id": 8})
        .handoff("closer", from_agent="robin")
        .answer("In Riga.")
        .turn(None, gaps=(GapKind.USER_INPUT_MISSING,))
        .result("lookup", {"late": True}, call_id="unknown")
        .answer("Still there.")
        .build()
    )
    mark = FENCE.mark(conversation.key)

    expected = """\
#M system
| Be kind.
| Always.
#M tools
| {"name": "lookup", "description": null, "parameters": null}
#M t0.user
| Where is it?
#M t0.0 message
@ helper
| One moment.
#M t0.1 call, parallel group 1
| lookup {"id": 7, "名": "本"}
#M t0.2 result of t0.1
| {"at": "Riga"}
#M t0.3 call, parallel group 1, arguments not a JSON object
| lookup
| {broken
#M t0.4 result of t0.3, error
| not found
#M t0.5 call
| lookup {"id": 8}
#M t0.note result of t0.5 not in the telemetry: no evidence of fabrication
#M t0.6 handoff
| from robin to closer
#M t0.answer
| In Riga.
#M t1.0 result of a call not in the telemetry
| lookup
| {"late": true}
#M t1.answer
| Still there.
#M t1.note the user input is not in the telemetry
"""

    assert text_of(conversation) == expected.replace("#M", f"#{mark}")


def test_a_missing_result_is_named_once_and_is_no_evidence_of_fabrication():
    conversation = (
        ConversationBuilder().turn("Go.", gaps=(GapKind.TOOL_RESULT_MISSING,)).call("act").answer("Done.").build()
    )

    assert text_of(conversation).count("no evidence of fabrication") == 1


def test_results_without_ids_belong_to_their_calls_by_name_and_order():
    conversation = ConversationBuilder().turn("Go.").answer("Done.").build()
    steps = (
        ToolCallStep(name="a", arguments={"n": 1}),
        ToolCallStep(name="b", arguments={"n": 2}),
        ToolCallStep(name="a", arguments={"n": 3}),
        ToolResultStep(name="b", result="two"),
        ToolResultStep(name="a", result="one"),
    )
    paired = replace(conversation, turns=(replace(conversation.turns[0], steps=steps),))

    text = text_of(paired)

    assert "t0.3 result of t0.1\n| two" in text
    assert "t0.4 result of t0.0\n| one" in text
    assert "t0.note result of t0.2 not in the telemetry" in text


def test_inner_steps_of_a_sub_agent_say_which_call_they_are_inside():
    conversation = ConversationBuilder().turn("Go.").call("delegate", {}, call_id="outer").answer("Done.").build()
    turn = conversation.turns[0]
    inner = ToolCallStep(name="search", arguments={}, call_id="inner", parent_call_id="outer", agent="scout")
    nested = replace(conversation, turns=(replace(turn, steps=(*turn.steps, inner)),))

    assert "t0.1 call, inside t0.0\n@ scout\n| search {}" in text_of(nested)


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        pytest.param("a\x00b", "a\\u{0}b", id="nul"),
        pytest.param("a\u200bb", "a\\u{200b}b", id="zero-width"),
        pytest.param("\u202eabc", "\\u{202e}abc", id="bidi-override"),
        pytest.param("\U000e0041", "\\u{e0041}", id="unicode-tag"),
        pytest.param("\ud83d", "\\u{d83d}", id="lone-surrogate"),
        pytest.param("a\u2028b", "a\\u{2028}b", id="line-separator"),
        pytest.param("\x1b[31mred", "\\u{1b}[31mred", id="terminal-escape"),
        pytest.param("क्‍ष नमस्ते 👩\u200d👧", "क्‍ष नमस्ते 👩\u200d👧", id="joiners-stay"),
        pytest.param("\ttab 日本 é", "\ttab 日本 é", id="ordinary-text-stays"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(hidden, shown):
    assert lines_of(hidden) == [shown]


def test_a_tool_name_cannot_pose_as_something_else():
    conversation = (
        ConversationBuilder().turn("Go.").call('pay {"amount": 1}\n| refund', {"amount": 9}).answer("Ok").build()
    )

    assert '| "pay {\\"amount\\": 1}\\n| refund" {"amount": 9}\n' in text_of(conversation)


def test_values_of_any_depth_and_size_are_shown_without_error():
    deep: object = "end"
    for _ in range(5000):
        deep = [deep]
    conversation = ConversationBuilder().turn("Go.").call("act", {"v": deep, "n": 10**6000}).answer("Ok").build()

    text = text_of(conversation)

    assert "nested too deep to show" in text
    assert "(an integer of 19932 bits)" in text


def test_marks_differ_by_conversation_and_secret_and_stay_for_one_conversation():
    other = Fence(b"another secret of 16+ bytes")

    assert FENCE.mark("shop/1") == Fence(b"0123456789abcdef").mark("shop/1")
    assert len({FENCE.mark("shop/1"), FENCE.mark("shop/2"), other.mark("shop/1")}) == 3
    assert "0123" not in repr(FENCE)


def test_a_short_secret_is_refused():
    with pytest.raises(ValueError, match="at least 16"):
        Fence(b"short")


def test_an_agent_turn_is_one_in_which_the_agent_says_or_calls_something():
    conversation = ConversationBuilder().turn("Hi").answer("Hello").turn("Anyone?").turn("Act!").call("act").build()

    record = record_of(conversation, fence=FENCE, max_tokens=UNBOUNDED)

    assert record.agent_turns == (0, 2)


def test_results_and_handoffs_alone_are_no_agent_turn():
    steps = (ToolResultStep(result="x"), HandoffStep(to_agent="b"))
    conversation = refund_conversation(verified=None)
    turn = replace(conversation.turns[0], steps=steps, output=None)

    record = record_of(replace(conversation, turns=(turn,)), fence=FENCE, max_tokens=UNBOUNDED)

    assert record.agent_turns == ()
