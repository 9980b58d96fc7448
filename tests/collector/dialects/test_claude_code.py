from __future__ import annotations

import itertools
import json
import random
from collections.abc import Mapping
from typing import Any

import pytest

from collector.model import GapKind, ToolCallStep
from collector.telemetry.records import LogRecord
from tests.support.agent_records import record
from tests.support.genai_spans import rebuild, span
from tests.support.two_turns import (
    ARGUMENTS,
    ASKED,
    ASKED_NEXT,
    CALL,
    CALLED,
    PROMPT,
    RESULT,
    RETURNED,
    TOLD,
    TOLD_NEXT,
    TOOL,
    WHOLE,
    shown,
)

SCOPE = "com.anthropic.claude_code.events"
TOOLS = [{"name": TOOL, "description": "Find a parcel.", "input_schema": {"type": "object", "properties": {}}}]
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": CALL, "name": TOOL, "input": ARGUMENTS}]}
GAVE = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": CALL, "content": json.dumps(RESULT)}]}


def event(name: str, at: int, turn: int, **attributes: Any) -> LogRecord:
    common = {"event.name": name, "session.id": "s-1", "prompt.id": f"p-{turn}", "event.sequence": at}
    return record(f"claude_code.{name}", common | attributes, at=at, service="claude-code", scope=SCOPE)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": "<system-reminder>x</system-reminder>"}, _text(text)]}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def request(*messages: Mapping[str, Any]) -> str:
    return json.dumps({"model": "claude-x", "messages": messages, "system": [_text(PROMPT)], "tools": TOOLS})


def response(identity: str, *content: Mapping[str, Any]) -> str:
    return json.dumps({"id": identity, "type": "message", "role": "assistant", "content": content})


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [_text(text)]}


def with_bodies() -> list[LogRecord]:
    first, second = [user(ASKED)], [user(ASKED), USE, GAVE]
    third = [*second, said(TOLD), user(ASKED_NEXT)]
    main = {"query_source": "repl_main_thread"}
    return [
        event("user_prompt", 1, 1, prompt=ASKED),
        event("api_request_body", 2, 1, body=request(*first), **main),
        event("api_response_body", 3, 1, body=response("m-1", *USE["content"]), request_id="r-1", **main),
        event("api_request", 4, 1, request_id="r-1", model="claude-x", input_tokens=10, output_tokens=2, **main),
        event("tool_result", 5, 1, tool_name=TOOL, tool_use_id=CALL, success="true", tool_input=json.dumps(ARGUMENTS)),
        event("api_request_body", 6, 1, body=request(*second), **main),
        event("api_response_body", 7, 1, body=response("m-2", _text(TOLD)), request_id="r-2", **main),
        event("assistant_response", 8, 1, response=TOLD, request_id="r-2", **main),
        event("assistant_response", 9, 1, response="Parcel search", request_id="r-9", query_source="session_title"),
        event("user_prompt", 10, 2, prompt=ASKED_NEXT),
        event("api_request_body", 11, 2, body=request(*third), **main),
        event("api_response_body", 12, 2, body=response("m-3", _text(TOLD_NEXT)), request_id="r-3", **main),
    ]


def by_default(**options: Any) -> list[LogRecord]:
    """Prompts, answers and tool details, no bodies."""
    return [
        event("user_prompt", 1, 1, prompt=options.get("prompt", ASKED)),
        event("api_request", 2, 1, request_id="r-1", model="claude-x", input_tokens=10, output_tokens=2),
        event("tool_result", 3, 1, tool_name=TOOL, tool_use_id=CALL, **options.get("tool", {"success": "true"})),
        event("assistant_response", 4, 1, response=options.get("response", TOLD), request_id="r-2"),
        event("user_prompt", 5, 2, prompt=options.get("prompt", ASKED_NEXT)),
        event("assistant_response", 6, 2, response=options.get("response", TOLD_NEXT), request_id="r-3"),
    ]


def test_bodies_give_the_whole_conversation() -> None:
    (conversation,) = rebuild(with_bodies())

    assert shown(conversation) == WHOLE
    assert conversation.conversation_id == "s-1"
    assert conversation.system_instructions == PROMPT
    assert [tool.name for tool in conversation.tool_definitions] == [TOOL]
    assert [turn.gaps for turn in conversation.turns] == [(), ()]
    assert (conversation.turns[0].input_tokens, conversation.turns[0].output_tokens) == (10, 2)


def test_a_turn_from_records_alone_says_that_no_span_of_it_exists() -> None:
    (conversation,) = rebuild(with_bodies())

    assert [turn.is_stand_in for turn in conversation.turns] == [True, True]


def test_order_and_repetition_of_records_change_nothing() -> None:
    records = with_bodies()
    (expected,) = rebuild(records)

    for seed in range(5):
        mixed = list(itertools.chain(records, records[:4]))
        random.Random(seed).shuffle(mixed)
        assert rebuild(mixed) == [expected]


def test_without_bodies_the_tool_result_is_a_gap() -> None:
    tool = {"success": "true", "tool_input": json.dumps(ARGUMENTS)}

    (conversation,) = rebuild(by_default(tool=tool))

    assert shown(conversation) == [(ASKED, [CALLED], TOLD), (ASKED_NEXT, [], TOLD_NEXT)]
    assert conversation.turns[0].gaps == (GapKind.TOOL_RESULT_MISSING,)


def test_redacted_prompts_and_answers_are_gaps_not_words() -> None:
    (conversation,) = rebuild(by_default(prompt="<REDACTED>", response="<REDACTED>"))

    assert [turn.user_input for turn in conversation.turns] == [None, None]
    assert [turn.output for turn in conversation.turns] == [None, None]
    assert all(GapKind.REDACTED in turn.gaps for turn in conversation.turns)


@pytest.mark.parametrize(
    "given",
    [json.dumps({"parcel": "x" * 512}), json.dumps({"parcel": "P-9", "note": "long"})[:-6]],
    ids=["value-cut-at-512", "text-cut"],
)
def test_cut_tool_inputs_are_gaps(given: str) -> None:
    (conversation,) = rebuild(by_default(tool={"success": "true", "tool_input": given}))

    assert GapKind.TRUNCATED in conversation.turns[0].gaps
    (call,) = [step for step in conversation.turns[0].steps if isinstance(step, ToolCallStep)]
    assert isinstance(call.arguments, Mapping)


def test_a_failed_tool_keeps_its_error() -> None:
    (conversation,) = rebuild(by_default(tool={"success": "false", "error": "no such parcel"}))

    assert shown(conversation)[0][1][-1] == ("error", TOOL, "no such parcel")


def test_a_body_cut_at_its_limit_is_a_gap() -> None:
    records = with_bodies()
    cut = event("api_request_body", 6, 1, body=request(user(ASKED), USE, GAVE)[:-420], body_truncated=True)

    (conversation,) = rebuild([cut if item.position == 6 else item for item in records])

    assert conversation.turns[0].output == TOLD
    assert GapKind.TRUNCATED in conversation.turns[0].gaps


def test_bodies_kept_in_files_are_a_gap() -> None:
    records = [item for item in with_bodies() if "body" not in item.attributes]
    referred = event("api_request_body", 2, 1, body_ref="bodies/1.json")

    (conversation,) = rebuild([*records, referred])

    assert GapKind.CONTENT_ELSEWHERE in conversation.turns[0].gaps


def test_spans_and_records_of_one_turn_are_one_turn() -> None:
    spans = [
        span("i", {"span.type": "interaction", "user_prompt": ASKED, "session.id": "s-1"}, lasts=20),
        span("l1", {"span.type": "llm_request", "gen_ai.response.id": "r-1", "session.id": "s-1"}, at=1, parent="i"),
        span("t", {"span.type": "tool", "tool_name": TOOL, "tool_use_id": CALL}, at=5, parent="i"),
        span("l2", {"span.type": "llm_request", "gen_ai.response.id": "r-2"}, at=7, lasts=5, parent="i"),
    ]
    scoped = [_scoped(item) for item in spans]
    trace, root = scoped[0].trace_id, scoped[0].span_id
    records = [
        record(r.event_name, r.attributes, at=r.position, service="shop", scope=SCOPE, trace_id=trace, span_id=root)
        for r in with_bodies()
        if r.position < 10
    ]

    (conversation,) = rebuild([*scoped, *records])

    assert shown(conversation) == [(ASKED, [CALLED, RETURNED], TOLD)]
    assert (conversation.turns[0].span_id, conversation.turns[0].is_stand_in) == (root, False)
    assert conversation.turns[0].input_tokens == 10


def _scoped(item: Any) -> Any:
    return type(item)(
        **{name: getattr(item, name) for name in item.__slots__} | {"scope": type(item.scope)(SCOPE, "", {})}
    )
