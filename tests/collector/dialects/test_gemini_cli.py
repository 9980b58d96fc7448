from __future__ import annotations

import json
from typing import Any

from collector.model import GapKind
from collector.telemetry.records import LogRecord
from tests.support.agent_records import record
from tests.support.genai_spans import rebuild, span
from tests.support.two_turns import (
    ARGUMENTS,
    ASKED,
    ASKED_NEXT,
    CALLED,
    PROMPT,
    RESULT,
    TOLD,
    TOLD_NEXT,
    TOOL,
    WHOLE,
    shown,
)

DETAILS = "gen_ai.client.inference.operation.details"
USE = {"role": "model", "parts": [{"functionCall": {"name": TOOL, "args": ARGUMENTS}}]}
GAVE = {"role": "user", "parts": [{"functionResponse": {"name": TOOL, "response": RESULT}}]}


def event(name: str, at: int, turn: int, **attributes: Any) -> LogRecord:
    common = {"event.name": name, "session.id": "s-1", "prompt_id": f"s-1########{turn}", "event.timestamp": f"T{at}"}
    return record(name, common | attributes, at=at, service="gemini-cli", scope="gemini-cli")


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text}]}


def details(at: int, turn: int, sent: list[Any], given: Any) -> LogRecord:
    fields = {
        "gen_ai.operation.name": "generate_content",
        "gen_ai.input.messages": json.dumps(sent),
        "gen_ai.output.messages": json.dumps([given]),
        "gen_ai.system_instructions": json.dumps([{"type": "text", "content": PROMPT}]),
        "gen_ai.usage.input_tokens": 10,
    }
    return event(DETAILS, at, turn, **fields)


def talk() -> list[LogRecord]:
    first = [said("user", ASKED)]
    second = [*first, USE, GAVE]
    third = [*second, said("model", TOLD), said("user", ASKED_NEXT)]
    response = {"model": "gemini-x", "input_token_count": 10, "output_token_count": 2}
    return [
        event("gemini_cli.user_prompt", 1, 1, prompt=ASKED),
        event("gemini_cli.api_response", 2, 1, **response),
        details(2, 1, first, USE),
        event(
            "gemini_cli.tool_call", 3, 1, function_name=TOOL, function_args=json.dumps(ARGUMENTS), success=True
        ),
        details(4, 1, second, said("model", TOLD)),
        event("gemini_cli.user_prompt", 5, 2, prompt=ASKED_NEXT),
        details(6, 2, third, said("model", TOLD_NEXT)),
    ]  # fmt: skip


def test_log_events_give_the_whole_conversation() -> None:
    (conversation,) = rebuild(talk())

    assert shown(conversation) == WHOLE
    assert conversation.conversation_id == "s-1"
    assert conversation.system_instructions == PROMPT
    assert [turn.gaps for turn in conversation.turns] == [(), ()]


def test_the_two_records_of_one_call_count_once() -> None:
    (conversation,) = rebuild(talk())

    assert (conversation.turns[0].input_tokens, conversation.turns[0].output_tokens) == (20, 2)


def test_without_details_answers_and_results_are_gaps() -> None:
    (conversation,) = rebuild([item for item in talk() if item.event_name != DETAILS])

    assert shown(conversation) == [(ASKED, [CALLED], None), (ASKED_NEXT, [], None)]
    assert conversation.turns[0].gaps == (GapKind.OUTPUT_MISSING, GapKind.TOOL_RESULT_MISSING)


def test_spans_give_the_whole_conversation() -> None:
    def own(operation: str, **attributes: Any) -> dict[str, Any]:
        common = {"gen_ai.operation.name": operation, "gen_ai.agent.name": "gemini-cli", "gen_ai.conversation.id": "s"}
        return common | attributes

    def call(sent: list[Any], given: Any) -> dict[str, Any]:
        return own(
            "llm_call",
            **{"gen_ai.input.messages": json.dumps(sent), "gen_ai.output.messages": json.dumps([given])},
        )

    tool = {
        "gen_ai.tool.name": TOOL,
        "gen_ai.tool.call_id": "k-1",
        "gen_ai.input.messages": json.dumps({"callId": "k-1", "name": TOOL, "args": ARGUMENTS}),
        "gen_ai.output.messages": json.dumps([{"functionResponse": {"name": TOOL, "response": RESULT}}]),
    }
    first = [said("user", ASKED)]
    second = [*first, USE, GAVE]
    third = [*second, said("model", TOLD), said("user", ASKED_NEXT)]

    (conversation,) = rebuild([
        span("c1", call(first, USE), at=1, parent="u1"),
        span("t", own("tool_call", **tool), at=2, parent="u1"),
        span("c2", call(second, said("model", TOLD)), at=3, parent="u1"),
        span("u1", own("user_prompt"), lasts=9),
        span("c3", call(third, said("model", TOLD_NEXT)), at=11, trace="t2", parent="u2"),
        span("u2", own("user_prompt"), at=10, lasts=9, trace="t2"),
    ])  # fmt: skip

    assert shown(conversation) == WHOLE
