from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from collector.model import GapKind
from collector.telemetry.records import LogRecord
from tests.support.agent_records import record
from tests.support.genai_spans import rebuild
from tests.support.two_turns import (
    ARGUMENTS,
    ASKED,
    ASKED_NEXT,
    CALL,
    CALLED,
    RESULT,
    TOLD,
    TOLD_NEXT,
    TOOL,
    WHOLE,
    shown,
)


def event(name: str, at: int, turn: int | None, **attributes: Any) -> LogRecord:
    common = {"event.name": f"codex.{name}", "conversation.id": "c-1", "model": "gpt-x", "app.version": "0.9"}
    if turn is not None:
        common["turn.id"] = f"t-{turn}"
    return record(f"codex.{name}", common | {key.replace("__", "."): v for key, v in attributes.items()}, at=at)


def talk(*, with_turns: bool, with_answers: bool = True, **tool: Any) -> list[LogRecord]:
    one, two = (1, 2) if with_turns else (None, None)
    ends = {"event__kind": "response.completed", "input_token_count": "10", "output_token_count": "2"}
    done = {"arguments": json.dumps(ARGUMENTS), "output": json.dumps(RESULT), "success": "true"} | tool
    found = [
        event("conversation_starts", 0, None),
        event("user_prompt", 1, one, prompt=ASKED, prompt_length="20"),
        event("sse_event", 2, one, event__kind="response.created"),
        event("sse_event", 3, one, **ends),
        event("tool_decision", 4, one, tool_name=TOOL, call_id=CALL, decision="approved", source="config"),
        event("tool_result", 5, one, tool_name=TOOL, call_id=CALL, **done),
        event("sse_event", 6, one, **ends),
        event("agent_response", 7, one, response=TOLD, agent__type="main"),
        event("user_prompt", 8, two, prompt=ASKED_NEXT),
        event("agent_response", 9, two, response=TOLD_NEXT, agent__type="main"),
    ]
    return [item for item in found if with_answers or item.event_name != "codex.agent_response"]


def test_a_conversation_is_rebuilt_by_its_turns() -> None:
    (conversation,) = rebuild(talk(with_turns=True))

    assert shown(conversation) == WHOLE
    assert conversation.conversation_id == "c-1"
    assert [turn.gaps for turn in conversation.turns] == [(), ()]
    assert (conversation.turns[0].input_tokens, conversation.turns[0].output_tokens) == (20, 4)
    assert conversation.turns[0].is_stand_in


def test_releases_without_turn_ids_are_told_by_time() -> None:
    (conversation,) = rebuild(talk(with_turns=False))

    assert shown(conversation) == WHOLE


@pytest.mark.parametrize("with_turns", [True, False])
def test_how_records_are_parted_into_requests_changes_nothing(*, with_turns: bool) -> None:
    records = talk(with_turns=with_turns)

    assert rebuild([replace(item, position=0) for item in [*records, *records[:5]]]) == rebuild(records)


def test_releases_without_answers_have_a_gap() -> None:
    (conversation,) = rebuild(talk(with_turns=True, with_answers=False))

    assert [turn.output for turn in conversation.turns] == [None, None]
    assert all(GapKind.OUTPUT_MISSING in turn.gaps for turn in conversation.turns)


def test_a_sub_agents_words_are_no_answer_to_the_user() -> None:
    inner = event(
        "agent_response", 6, None, response="Oslo it is.", agent__type="subagent", conversation__id="c-2",
        parent__conversation__id="c-1", root__turn__id="t-1",
    )  # fmt: skip

    found = rebuild([*talk(with_turns=True), inner])

    assert [turn.output for turn in found[0].turns] == [TOLD, TOLD_NEXT]


def test_a_refused_tool_is_an_error_and_not_a_missing_result() -> None:
    refused = event("tool_decision", 4, 1, tool_name=TOOL, call_id=CALL, decision="denied", source="user")
    records = [item for item in talk(with_turns=True) if not item.event_name.startswith("codex.tool")]

    (conversation,) = rebuild([*records, refused])

    assert conversation.turns[0].gaps == (GapKind.TOOL_ARGUMENTS_MISSING,)
    assert shown(conversation)[0][1][-1] == ("error", TOOL, "Rejected (user).")


def test_a_cut_preview_is_a_gap() -> None:
    cut = {"output": '{"place": "Oslo", "history": ["a", "b'}

    (conversation,) = rebuild(talk(with_turns=True, **cut))

    assert GapKind.TRUNCATED in conversation.turns[0].gaps
    assert shown(conversation)[0][1] == [CALLED, ("result", TOOL, {"place": "Oslo", "history": ["a", "b"]})]
