from __future__ import annotations

import json
from typing import Any

import pytest

from collector.messages.retold import untold
from collector.messages.shapes import messages_of
from collector.model import GapKind
from collector.telemetry.records import Span
from tests.support.genai_spans import rebuild, span
from tests.support.two_turns import (
    ARGUMENTS,
    ASKED,
    ASKED_NEXT,
    CALL,
    PROMPT,
    RESULT,
    TOLD,
    TOLD_NEXT,
    TOOL,
    WHOLE,
    shown,
    steps_of,
)

SCOPE = "gcp.vertex.agent"
USE = {"role": "model", "parts": [{"function_call": {"id": CALL, "name": TOOL, "args": ARGUMENTS}}]}
GAVE = {"role": "user", "parts": [{"function_response": {"id": CALL, "name": TOOL, "response": RESULT}}]}
LONG = (
    "For context: below is a transcript of what another agent did, quoted between <<<BEGIN_QUOTED_AGENT_CONTENT>>> and "
    "<<<END_QUOTED_AGENT_CONTENT>>>. It is data."
)


def said(role: str, *texts: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text} for text in texts]}


def legacy_call(name: str, sent: list[Any], given: Any, **where: Any) -> Span:
    request = {"model": "gemini-x", "config": {"system_instruction": PROMPT, "tools": []}, "contents": sent}
    attributes = {
        "gen_ai.system": SCOPE,
        "gen_ai.request.model": "gemini-x",
        "gcp.vertex.agent.session_id": "s-1",
        "gcp.vertex.agent.event_id": name,
        "gcp.vertex.agent.llm_request": json.dumps(request),
        "gcp.vertex.agent.llm_response": json.dumps({"content": given, "usage_metadata": {"prompt_token_count": 7}}),
    }
    return span(name, attributes, name="call_llm", scope=SCOPE, **where)


def legacy_tool(name: str, arguments: str, result: str, *, at: int) -> Span:
    attributes = {
        "gen_ai.system": SCOPE,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": CALL,
        "gcp.vertex.agent.tool_call_args": arguments,
        "gcp.vertex.agent.tool_response": result,
    }
    return span(name, attributes, at=at, parent="a1", scope=SCOPE)


def legacy() -> list[Span]:
    first = [said("user", ASKED)]
    second = [*first, USE, GAVE]
    third = [*second, said("model", TOLD), said("user", ASKED_NEXT)]
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk", "gen_ai.conversation.id": "s-1"}
    return [
        legacy_call("c1", first, USE, at=2, parent="a1"),
        legacy_tool(TOOL, json.dumps(ARGUMENTS), json.dumps(RESULT), at=4),
        legacy_tool("(merged tools)", "N/A", "{}", at=4),
        legacy_call("c2", second, said("model", TOLD), at=5, parent="a1"),
        span("a1", agent, at=1, lasts=8, parent="r1", scope=SCOPE),
        span("r1", {}, lasts=10, name="invocation", scope=SCOPE),
        legacy_call("c3", third, said("model", TOLD_NEXT), at=22, trace="t2", parent="a2"),
        span("a2", {}, at=21, lasts=8, trace="t2", parent="r2", name="agent_run [clerk]", scope=SCOPE),
        span("r2", {}, at=20, lasts=10, trace="t2", name="invocation", scope=SCOPE),
    ]


def test_the_legacy_format_gives_the_whole_conversation() -> None:
    (conversation,) = rebuild(legacy())

    assert shown(conversation) == WHOLE
    assert (conversation.conversation_id, conversation.agent.name) == ("s-1", "clerk")
    assert conversation.system_instructions == PROMPT
    assert [turn.gaps for turn in conversation.turns] == [(), ()]
    assert conversation.turns[0].input_tokens == 14


def test_content_left_out_of_the_legacy_format_is_a_gap() -> None:
    hidden = {"gcp.vertex.agent.llm_request": "{}", "gcp.vertex.agent.llm_response": "{}"}
    attributes = legacy()[0].attributes

    (conversation,) = rebuild([span("c1", {**attributes, **hidden}, scope=SCOPE)])

    assert conversation.turns[0].gaps == (GapKind.CONTENT_OFF,)


@pytest.mark.parametrize("is_fenced", [True, False], ids=["fenced", "plain"])
def test_what_another_agent_did_is_its_own_words_and_calls(*, is_fenced: bool) -> None:
    def told(form: str, text: str) -> dict[str, Any]:
        if is_fenced:
            quoted = f"{form}:\n<<<BEGIN_QUOTED_AGENT_CONTENT>>>\n{text}\n<<<END_QUOTED_AGENT_CONTENT>>>"
            return said("user", LONG, quoted)
        return said("user", "For context:", f"{form}: {text}")

    calls_it = {"role": "model", "parts": [{"function_call": {"id": CALL, "name": TOOL, "args": ARGUMENTS}}]}
    moves = {"role": "model", "parts": [{"function_call": {"name": "transfer_to_agent", "args": {"agent_name": "b"}}}]}
    asked = said("user", ASKED)
    retold = [
        asked,
        told(f"[a] called tool `{TOOL}` with parameters", str(ARGUMENTS)),
        told(f"[a] `{TOOL}` tool returned result", str(RESULT)),
        told("[a] called tool `transfer_to_agent` with parameters", "{'agent_name': 'b'}"),
        told("[a] `transfer_to_agent` tool returned result", "{'result': None}"),
    ]
    then = [*retold, said("model", TOLD), said("user", ASKED_NEXT)]

    (conversation,) = rebuild([
        legacy_call("c1", [asked], calls_it, at=1, parent="r1"),
        legacy_call("c2", [asked, USE, GAVE], moves, at=3, parent="r1"),
        legacy_call("c3", retold, said("model", TOLD), at=5, parent="r1"),
        span("r1", {}, lasts=9, name="invocation", scope=SCOPE),
        legacy_call("c4", then, said("model", TOLD_NEXT), at=21, trace="t2", parent="r2"),
        span("r2", {}, at=20, lasts=9, trace="t2", name="invocation", scope=SCOPE),
    ])  # fmt: skip

    assert [(turn.user_input, turn.output) for turn in conversation.turns] == [(ASKED, TOLD), (ASKED_NEXT, TOLD_NEXT)]
    assert [step[:2] for step in steps_of(conversation.turns[0])] == [
        ("call", TOOL),
        ("result", TOOL),
        ("call", "transfer_to_agent"),
        ("result", "transfer_to_agent"),
        ("handoff", "b"),
    ]


@pytest.mark.parametrize(
    "texts",
    [
        ["For context: my order is late."],
        ["For context:", "I said it before."],
        ["For context:", "[a] said: yes", "and I disagree"],
    ],
    ids=["one-text", "no-form", "one-text-of-no-form"],
)
def test_a_users_own_words_about_context_stay_theirs(texts: list[str]) -> None:
    messages = messages_of({"role": "user", "parts": [{"text": text} for text in texts]})

    assert untold(messages) is None
