"""The built-in checks on conversations that people would call clean: they must stay silent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from collector.model import (
    Conversation,
    ConversationIdSource,
    MessageStep,
    ToolCallStep,
    ToolDefinition,
    ToolResultStep,
    Turn,
)
from evaluators.verdict import Outcome
from tests.support.conversations import turn_unit
from tests.support.rules import judge

FOLDER = Path(__file__).parents[4] / "shared" / "judging"
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not FOLDER.exists(), reason="The folder of labelled conversations is not beside the checkout."),
]


def cases(name: str):
    path = FOLDER / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def conversation_of(case) -> Conversation:
    recorded = case["conversation"]
    tools = [tool.get("function", tool) for tool in recorded["tools"] or []]
    turns: list[Turn] = []
    for message in recorded["messages"]:
        if message["role"] == "user":
            turns.append(Turn(len(turns), "0" * 32, f"{len(turns):016x}", user_input=message["content"]))
        else:
            turns[-1] = extended(turns[-1], message)
    return Conversation(
        conversation_id=case["id"],
        conversation_id_source=ConversationIdSource.ATTRIBUTE,
        system_instructions=recorded["system"],
        tool_definitions=tuple(ToolDefinition(name=tool["name"]) for tool in tools),
        turns=tuple(turns),
    )


def extended(turn: Turn, message) -> Turn:
    from dataclasses import replace

    if message["role"] == "tool":
        return replace(turn, steps=(*turn.steps, ToolResultStep(message["content"], call_id=message["tool_call_id"])))
    calls = [
        ToolCallStep(call["function"]["name"], json.loads(call["function"]["arguments"]), call_id=call["id"])
        for call in message.get("tool_calls") or []
    ]
    if not calls:
        return replace(turn, output=message["content"])
    said = [MessageStep(message["content"])] if message.get("content") else []
    return replace(turn, steps=(*turn.steps, *said, *calls))


@pytest.mark.parametrize("name", ["task.jsonl", "role.jsonl"])
def test_no_turn_of_a_clean_conversation_is_flagged(name):
    clean = [case for case in cases(name) if case.get("fault") is None]

    flagged = [
        (case["id"], index, judgement.reason)
        for case in clean
        for index in range(len(conversation_of(case).turns))
        if (judgement := judge([], turn_unit(conversation_of(case), index))).outcome is Outcome.FAIL
    ]

    assert len(clean) >= 16
    assert flagged == []


def test_what_is_flagged_in_a_faulty_conversation_is_its_fault():
    for case in cases("task.jsonl"):
        fault = case["fault"]
        for index in range(len(conversation_of(case).turns)):
            judgement = judge([], turn_unit(conversation_of(case), index))
            if judgement.outcome is Outcome.FAIL:
                assert fault is not None
                assert index in fault["turns"], case["id"]
