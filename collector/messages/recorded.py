"""What a span recorded of a function: what it was given and what it gave back, each as one value.

LangSmith, Langfuse and MLflow record all spans alike: a model call has the provider's request and response, an agent or
a step of a pipeline the arguments and the result of a function, a tool its arguments and its result. Each function
here gives fields of an `Operation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.messages.bodies import read_request, read_response, response_id_of
from collector.messages.decoder import MessageDecoder
from collector.messages.definitions import definitions_of
from collector.messages.entities import call_arguments, call_result, input_items, output_items
from collector.messages.payloads import tools_of
from collector.messages.reprs import decode_repr, is_printed_object
from collector.messages.values import as_str, decode, first, plain
from collector.model import JsonValue
from collector.operation import Role

_MAX_DEPTH = 3


def model_call_fields(given: object, returned: object, decoder: MessageDecoder) -> dict[str, Any]:
    request = read_request(given, decoder)
    sent = request.decoded
    if sent.chain is None:
        sent = decoder.read(_said(given, request.rest, "user"), default=Role.USER)
    response = read_response(returned, decoder)
    answer = response.decoded
    if answer.chain is None:
        answer = decoder.read(_said(returned, response.rest, "assistant"), default=Role.ASSISTANT)
    previous = as_str(request.rest.get("previous_response_id"))
    return {
        "input": sent.chain,
        "input_is_delta": previous is not None,
        "output": answer.messages,
        "gaps": tuple(sorted({*request.decoded.gaps, *response.decoded.gaps, *sent.gaps, *answer.gaps})),
        "system_instructions": request.system,
        "tool_definitions": definitions_of(tools_of(request.rest)),
        "response_id": response_id_of(response.rest),
        "previous_response_id": previous,
        "model": as_str(first(response.rest, "model", "model_name")) or as_str(first(request.rest, "model", "modelId")),
    }


def wrapper_fields(given: object, returned: object, decoder: MessageDecoder) -> dict[str, Any]:
    """Of an agent or a workflow: what the user said, and what the user was told, where that is clear."""
    request = read_request(given, decoder)
    sent = request.decoded
    if sent.chain is None:
        sent = decoder.read(input_items(given), default=Role.USER)
    response = read_response(returned, decoder)
    answer = response.decoded
    if answer.chain is None:
        answer = decoder.read(output_items(returned), default=Role.ASSISTANT)
    return {
        "input": sent.chain,
        "output": answer.messages,
        "gaps": tuple(sorted({*sent.gaps, *answer.gaps})),
        "system_instructions": request.system,
    }


def tool_fields(name: str | None, given: object, returned: object) -> dict[str, Any]:
    """`given` and `returned` are None where nothing was recorded."""
    fields: dict[str, Any] = {"tool_name": name}
    if given is not None:
        fields |= {"arguments": _arguments(given), "has_arguments": True}
    if returned is not None:
        fields |= {"result": call_result(returned), "has_result": True}
        told = _tool_message(decode(returned), _MAX_DEPTH)
        if told is not None:
            fields |= {"call_id": as_str(told.get("tool_call_id")), "is_error": told.get("status") == "error"}
    return fields


def _said(value: object, rest: Mapping[str, Any], role: str) -> list[Any] | None:
    """The bare text that a model was asked or answered with; LangChain's completion models have a list of prompts."""
    prompts = rest.get("prompts")
    if isinstance(prompts, list) and len(prompts) == 1:
        value = prompts[0]
    found = decode(value)
    if role == "assistant" and rest:
        return output_items(rest)
    if role == "user" and rest and not isinstance(found, str):
        return input_items({key: rest[key] for key in ("prompt", "input", "query", "question", "text") if key in rest})
    text = found[0] if isinstance(found, list) and len(found) == 1 else found
    return [{"role": role, "content": text}] if isinstance(text, str) and text.strip() else None


def _arguments(given: object) -> JsonValue:
    """The arguments; LangChain records them as one printed text, bare or under `input`."""
    found = call_arguments(given)
    text = found.get("input") if isinstance(found, Mapping) and set(found) == {"input"} else found
    if isinstance(text, str) and text[:1] == "{":
        inner = decode(text)
        inner = decode_repr(text) if isinstance(inner, str) else inner
        if isinstance(inner, Mapping):
            return plain(inner)
    return found


def _tool_message(found: object, depth: int) -> Mapping[str, Any] | None:
    """The tool message that a result is or holds."""
    if isinstance(found, str) and is_printed_object(found):
        found = decode_repr(found)
    if not isinstance(found, Mapping) or depth <= 0:
        return None
    if "tool_call_id" in found:
        return found
    for key in ("kwargs", "output"):
        if isinstance(found.get(key), (Mapping, str)):
            return _tool_message(decode(found[key]), depth - 1)
    return None
