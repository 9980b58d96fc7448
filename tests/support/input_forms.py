"""One conversation in every form that is accepted, so that a test can ask the same of each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the user said, the one call that was made for it (or none), and the answer."""

    asked: str
    answered: str
    tool: str | None = None
    argument: str = ""
    result: str = ""


Form = Callable[[Sequence[Exchange], str], Any]
"""From the exchanges and the system prompt to a value of the form."""


def pairs(exchanges: Sequence[Exchange], system: str) -> Any:
    return {"turns": [_pair(one) for one in exchanges], "system": system}


def test_cases(exchanges: Sequence[Exchange], system: str) -> Any:
    return {"messages": [{"llm_test_case": _pair(one)} for one in exchanges], "system_prompt": system}


def dialogue(exchanges: Sequence[Exchange], system: str) -> Any:
    turns: list[Mapping[str, Any]] = []
    for one in exchanges:
        turns.append({"role": "user", "content": one.asked})
        turns.append({"role": "assistant", "content": one.answered, "tools_called": _pair(one).get("tools_called", [])})
    return {"turns": turns, "chatbot_role": system}


def chat(exchanges: Sequence[Exchange], system: str) -> Any:
    return {"messages": [{"role": "system", "content": system}, *_messages(exchanges, _openai_call, _openai_result)]}


def azure_flat(exchanges: Sequence[Exchange], system: str) -> Any:
    return _split([{"role": "system", "content": system}, *_messages(exchanges, _flat_call, _azure_result)])


def azure_nested(exchanges: Sequence[Exchange], system: str) -> Any:
    head = {"role": "developer", "content": [{"type": "text", "text": system}]}
    return _split([head, *_messages(exchanges, _nested_call, _azure_result, blocks=True)])


def genai(exchanges: Sequence[Exchange], system: str) -> Any:
    messages = _messages(exchanges, _genai_call, _genai_result, blocks=True, key="parts", text="content")
    return {
        "gen_ai.system_instructions": [{"type": "text", "content": system}],
        "gen_ai.input.messages": json.dumps(messages[:-1]),
        "gen_ai.output.messages": messages[-1:],
    }


def responses(exchanges: Sequence[Exchange], system: str) -> Any:
    items: list[Mapping[str, Any]] = []
    for number, one in enumerate(exchanges):
        items.append({"type": "message", "role": "user", "content": [{"type": "input_text", "text": one.asked}]})
        if one.tool is not None:
            call = {"call_id": f"call-{number}", "name": one.tool, "arguments": json.dumps({"value": one.argument})}
            items.append({"type": "function_call", **call})
            items.append({"type": "function_call_output", "call_id": f"call-{number}", "output": one.result})
        answer = [{"type": "output_text", "text": one.answered}]
        items.append({"type": "message", "role": "assistant", "content": answer})
    return {"instructions": system, "input": items[:-1], "output": items[-1:]}


FORMS: Mapping[str, Form] = {
    "pairs": pairs,
    "test cases": test_cases,
    "dialogue": dialogue,
    "chat": chat,
    "query and response, flat calls": azure_flat,
    "query and response, nested calls": azure_nested,
    "OpenTelemetry parts": genai,
    "response items": responses,
}


def _pair(one: Exchange) -> dict[str, Any]:
    called = [{"name": one.tool, "input_parameters": {"value": one.argument}, "output": one.result}]
    return {"input": one.asked, "actual_output": one.answered} | ({"tools_called": called} if one.tool else {})


def _split(messages: Sequence[Mapping[str, Any]]) -> Any:
    last = max(number for number, message in enumerate(messages) if message["role"] == "user")
    return {"query": list(messages[: last + 1]), "response": list(messages[last + 1 :])}


def _messages(
    exchanges: Sequence[Exchange],
    call: Callable[[str, Exchange], Mapping[str, Any]],
    result: Callable[[str, Exchange], Mapping[str, Any]],
    *,
    blocks: bool = False,
    key: str = "content",
    text: str = "text",
) -> list[Mapping[str, Any]]:
    def said(role: str, words: str) -> Mapping[str, Any]:
        return {"role": role, key: [{"type": "text", text: words}] if blocks else words, "createdAt": "2026-01-01"}

    found: list[Mapping[str, Any]] = []
    for number, one in enumerate(exchanges):
        found.append(said("user", one.asked))
        if one.tool is not None:
            found += [call(f"call-{number}", one), result(f"call-{number}", one)]
        found.append(said("assistant", one.answered))
    return found


def _openai_call(call_id: str, one: Exchange) -> Mapping[str, Any]:
    function = {"name": one.tool, "arguments": json.dumps({"value": one.argument})}
    calls = [{"id": call_id, "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _openai_result(call_id: str, one: Exchange) -> Mapping[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": one.result}


def _flat_call(call_id: str, one: Exchange) -> Mapping[str, Any]:
    block = {"type": "tool_call", "tool_call_id": call_id, "name": one.tool, "arguments": {"value": one.argument}}
    return {"role": "assistant", "run_id": "run-1", "content": [block]}


def _nested_call(call_id: str, one: Exchange) -> Mapping[str, Any]:
    function = {"name": one.tool, "arguments": {"value": one.argument}}
    block = {"type": "tool_call", "tool_call": {"id": call_id, "type": "function", "function": function}}
    return {"role": "assistant", "content": [block]}


def _azure_result(call_id: str, one: Exchange) -> Mapping[str, Any]:
    return {
        "role": "tool",
        "tool_call_id": call_id,
        "content": [{"type": "tool_result", "tool_result": one.result}],
    }


def _genai_call(call_id: str, one: Exchange) -> Mapping[str, Any]:
    part = {"type": "tool_call", "id": call_id, "name": one.tool, "arguments": {"value": one.argument}}
    return {"role": "assistant", "parts": [part]}


def _genai_result(call_id: str, one: Exchange) -> Mapping[str, Any]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": one.result}]}
