"""Chats of several users in one trace that name no conversation."""

from __future__ import annotations

import random
from typing import Any

import pytest

from collector.model import Conversation, ConversationIdSource, GapKind
from collector.telemetry.records import Span
from tests.support.genai_spans import agent, asks, calls, chat, rebuild, returns, says, span, system
from tests.support.two_turns import shown

CLERK = system("You are a clerk.")
ANNA = [("Where is parcel A-1?", "Parcel A-1 is in Oslo."), ("And when is it here?", "On Friday."), ("Bye.", "Bye!")]
BERT = [("Where is parcel B-2?", "Parcel B-2 is in Rome."), ("And when is it here?", "On Monday."), ("Bye.", "Bye!")]


def turns(talk: list[tuple[str, str]], *, first: int, prompt: dict[str, Any] = CLERK, parent: str = "r") -> list[Span]:
    history: list[dict[str, Any]] = [prompt]
    found: list[Span] = []
    for index, (asked, told) in enumerate(talk):
        history.append(asks(asked))
        at = first + 20 * index
        found.append(span(f"c{at}", chat(history, told), at=at, lasts=3, parent=parent))
        history.append(says(told))
    return found


def job(kind: dict[str, Any] | None = None) -> Span:
    return span("r", kind if kind is not None else {"messaging.system": "x"}, lasts=200)


def told(conversations: list[Conversation]) -> list[list[tuple[str | None, str | None]]]:
    return [[(user, output) for user, _, output in shown(conversation)] for conversation in conversations]


@pytest.mark.parametrize(
    "kind",
    [{}, {"gen_ai.operation.name": "invoke_workflow"}, agent("batch")],
    ids=["a job", "a workflow", "an agent"],
)
def test_two_chats_of_one_prompt_are_two_conversations(kind: dict[str, Any]) -> None:
    spans = [job(kind), *turns(ANNA, first=1), *turns(BERT, first=11)]
    random.Random(7).shuffle(spans)

    found = rebuild(spans)

    assert told(found) == [ANNA, BERT]
    assert len({conversation.conversation_id for conversation in found}) == 2
    assert found[0].conversation_id == spans[0].trace_id
    assert found[1].conversation_id_source is ConversationIdSource.HISTORY
    assert not any(GapKind.SPANS_MISSING in turn.gaps for conversation in found for turn in conversation.turns)


def test_agents_with_tools_that_took_turns_are_told_apart() -> None:
    spans = [job()]
    for number, name, first in ((1, "A-1", 1), (2, "B-2", 21)):
        use = calls(("locate", f"call-0000000{number}", {"parcel": name}))
        asked = asks(f"Where is {name}?")
        answer = f"{name} is in hall {number}."
        after = [CLERK, asked, use, returns(f"hall {number}", f"call-0000000{number}")]
        spans += [
            span(f"a{first}", agent("clerk", f"Where is {name}?", answer), at=first, lasts=9, parent="r"),
            span(f"m{first}", chat(after[:2], [use]), at=first + 1, parent=f"a{first}"),
            span(f"n{first}", chat(after, answer), at=first + 4, parent=f"a{first}"),
            span(f"b{first}", agent("clerk", "Thanks.", "Gladly."), at=first + 50, lasts=9, parent="r"),
            span(
                f"o{first}",
                chat([*after, says(answer), asks("Thanks.")], "Gladly."),
                at=first + 51,
                parent=f"b{first}",
            ),
        ]

    found = rebuild(spans)

    assert [[len(turn.steps) for turn in conversation.turns] for conversation in found] == [[2, 0], [2, 0]]
    assert [[user for user, _ in conversation] for conversation in told(found)] == [
        ["Where is A-1?", "Thanks."],
        ["Where is B-2?", "Thanks."],
    ]


def test_agents_of_two_prompts_stay_in_one_conversation() -> None:
    other = turns(BERT, first=11, prompt=system("You check what a clerk says."))

    assert len(rebuild([job(), *turns(ANNA, first=1), *other])) == 1


def test_a_chat_beside_which_nothing_was_gone_on_with_stays_one_conversation() -> None:
    assert len(rebuild([job(), *turns(ANNA, first=1), *turns(BERT[:1], first=11)])) == 1


def test_two_branches_of_one_chat_stay_in_one_conversation() -> None:
    branch = [ANNA[0], *BERT[1:]]

    assert len(rebuild([job(), *turns(ANNA, first=1), *turns(branch, first=11)])) == 1


def test_what_an_agent_did_for_one_request_is_never_parted() -> None:
    around = span("top", agent("clerk", "Compare A-1 and B-2.", "Both are on their way."), at=0, lasts=190, parent="r")
    inside = [*turns(ANNA, first=1, parent="top"), *turns(BERT, first=11, parent="top")]

    assert len(rebuild([job(), around, *inside])) == 1
