"""A model that reasons in words: its actions are calls, what it observed is their result, its answer is the answer."""

from __future__ import annotations

import pytest

from collector.messages.decoder import MessageDecoder
from collector.operation import ReasoningPart, Role, TextPart, ToolCallPart, ToolResultPart
from tests.support.genai_spans import asks, chat, rebuild, says, span
from tests.support.two_turns import ARGUMENTS, ASKED, CALLED, RESULT, TOLD, TOOL, shown

THOUGHT = "Thought: I look the parcel up."
ACTS = f"{THOUGHT}\nAction: {TOOL}\nAction Input: {{'parcel': 'P-9'}}"


@pytest.mark.parametrize("given", ["{'parcel': 'P-9'}", '{"parcel": "P-9"}', '{\n "parcel": "P-9"\n}\n'])
def test_an_action_is_a_call(given: str) -> None:
    text = f"{THOUGHT}\nAction: {TOOL}\nAction Input: {given}"

    (message,) = MessageDecoder().read([{"role": "assistant", "content": text}]).messages

    assert message.parts == (TextPart(THOUGHT), ToolCallPart(TOOL, ARGUMENTS))


@pytest.mark.parametrize(
    "text",
    [
        f"Write it so:\nAction: {TOOL}\nAction Input: a mapping",
        f"{ACTS}\nand then wait for the observation.",
        "The words Action Input: {} alone ask for nothing.",
        f"My last Action: {TOOL}\nAction Input: {{}}",
    ],
)
def test_what_only_speaks_of_actions_is_a_text(text: str) -> None:
    (message,) = MessageDecoder().read([{"role": "assistant", "content": text}]).messages

    assert message.parts == (TextPart(text),)


@pytest.mark.parametrize("word", ["Answer", "Final Answer"])
def test_the_answer_is_told_from_the_thought_before_it(word: str) -> None:
    (message,) = MessageDecoder().read([{"role": "assistant", "content": f"Thought: I know.\n{word}: {TOLD}"}]).messages

    assert message.parts == (ReasoningPart("I know."), TextPart(TOLD))


def test_an_observation_is_the_result_of_the_action_before_it_only() -> None:
    observed = {"role": "user", "content": "Observation: Oslo"}

    after = MessageDecoder().read([{"role": "assistant", "content": ACTS}, observed]).messages
    alone = MessageDecoder().read([observed]).messages

    assert after[-1].role is Role.TOOL
    assert after[-1].parts == (ToolResultPart("Oslo"),)
    assert alone[-1].role is Role.USER


def test_a_loop_of_actions_is_one_turn() -> None:
    observed = asks('Observation: {"place": "Oslo"}')
    spans = [
        span("c1", chat([asks(ASKED)], ACTS), at=1),
        span("c2", chat([asks(ASKED), says(ACTS), observed], f"Thought: I know.\nAnswer: {TOLD}"), at=5),
    ]

    (conversation,) = rebuild(spans)

    result = ("result", TOOL, RESULT)
    assert shown(conversation) == [(ASKED, [("says", THOUGHT), CALLED, result], TOLD)]
