"""Request and response bodies of providers and frameworks: which items of them are messages.

The items go to `MessageDecoder.read_items`, which reads each by its shape. Nothing here decodes a message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.messages.reprs import CLASS, decode_repr, is_printed_object
from collector.messages.roles import is_pair
from collector.messages.values import as_str, decode, first, text_of

_REQUEST_LISTS = ("messages", "input", "contents", "chat_history", "history", "inputs", "prompt", "message")
_RESPONSE_LISTS = ("messages", "output", "outputs", "generations", "candidates", "choices", "replies")
_CHOICES = {"choices", "candidates", "generations"}
_MAX_DEPTH = 5


def request_items(value: object, *, depth: int = _MAX_DEPTH) -> list[Any] | None:
    """The message list of a request body, its separate system prompt first; None where there is none."""
    found = _readable(decode(value))
    if isinstance(found, list):
        return found if _is_message_list(found) else None
    if not isinstance(found, Mapping) or depth <= 0:
        return None
    if is_message(found):
        return [found]
    for key in _REQUEST_LISTS:
        inner = _readable(decode(found.get(key)))
        items: list[Any] | None = None
        if isinstance(inner, list) and _is_message_list(inner):
            items = inner
        elif isinstance(inner, Mapping):
            items = request_items(inner, depth=depth - 1)
        elif (
            isinstance(inner, str)
            and inner
            and key in {"input", "contents", "prompt", "message"}
            and _is_request(found)
        ):
            items = [{"role": "user", "content": inner}]
        if items:
            system = system_of(found)
            return [{"role": "system", "content": system}, *items] if system else items
    only = _only_object(found)
    return request_items(only, depth=depth - 1) if only is not None else None


def response_items(value: object, *, depth: int = _MAX_DEPTH) -> list[Any] | None:
    """The messages of a response body; of several choices the first."""
    found = _readable(decode(value))
    if isinstance(found, list):
        if _is_message_list(found):
            return found
        return response_items(found[0], depth=depth - 1) if len(found) == 1 and depth > 0 else None
    if not isinstance(found, Mapping) or depth <= 0:
        return None
    if is_message(found):
        return [found]
    for key in _RESPONSE_LISTS:
        inner = _readable(decode(found.get(key)))
        if isinstance(inner, Mapping):
            return response_items(inner, depth=depth - 1)
        if isinstance(inner, list) and inner:
            items = _choice(inner[0], depth - 1) if key in _CHOICES else inner if _is_message_list(inner) else None
            if items is not None or key in _CHOICES:
                return items
    objects = (_readable(decode(found.get(key))) for key in ("message", "response", "result", "content"))
    only = next((inner for inner in objects if isinstance(inner, Mapping)), None) or _only_object(found)
    return response_items(only, depth=depth - 1) if only is not None else None


def tools_of(value: object) -> Any:
    """What a request body says about tools; see `definitions`."""
    found = decode(value)
    if not isinstance(found, Mapping):
        return None
    config = found.get("config")
    inner = config.get("tools") if isinstance(config, Mapping) else None
    return first(found, "tools", "functions", "available_tools") or inner


def system_of(found: Mapping[str, Any]) -> str | None:
    """The system prompt that a request holds beside its messages."""
    config = found.get("config")
    inner = first(config, "system_instruction", "systemInstruction") if isinstance(config, Mapping) else None
    own = first(found, "system", "instructions", "system_instruction", "systemInstruction", "system_prompt")
    text = text_of(_parts_in(own if own is not None else inner))
    return as_str(text)


def is_message(found: object) -> bool:
    """An object that is one message, in any of the known shapes."""
    if not isinstance(found, Mapping):
        return False
    if isinstance(found.get("role"), str):
        return any(key in found for key in ("content", "contents", "parts", "tool_calls", "blocks", "function_call"))
    if isinstance(found.get("_role"), str):
        return "_content" in found
    if found.get("lc") == 1 and "kwargs" in found:
        identity = found.get("id")
        return isinstance(identity, list) and bool(identity) and str(identity[-1]).endswith(("Message", "MessageChunk"))
    kind = found.get("type")
    if kind in {"human", "ai", "system", "tool", "AIMessageChunk", "HumanMessageChunk"}:
        return "content" in found or "data" in found
    return kind in {
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "message",
    } and ("call_id" in found or "content" in found or "output" in found)


def _is_message_list(items: list[Any]) -> bool:
    """A list of messages; LangChain nests it once more, and Responses mixes in reasoning items."""
    if not items:
        return False
    if all(isinstance(item, list) and not is_pair(item) for item in items):
        return all(_is_message_list(item) for item in items)
    messages = sum(is_message(item) or is_pair(item) for item in items)
    others = [item for item in items if not is_message(item) and not is_pair(item)]
    return messages > 0 and all(
        isinstance(item, Mapping) and (isinstance(item.get("type"), str) or isinstance(item.get("role"), str))
        for item in others  # a message that was cut may hold nothing but its role
    )


def _readable(value: Any) -> Any:
    """Printed objects, alone or as the items of a list, to what was printed."""
    if isinstance(value, str) and is_printed_object(value):
        return decode_repr(value) or value
    if isinstance(value, list) and any(isinstance(item, str) for item in value) and all(map(_is_object, value)):
        return [decode_repr(item) or item if isinstance(item, str) else item for item in value]
    return value


def _is_object(item: Any) -> bool:
    return isinstance(item, Mapping) or (isinstance(item, str) and is_printed_object(item))


def _only_object(found: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The value of an object with one key, as pipelines write it (the component's name)."""
    values = [value for key, value in found.items() if key != CLASS and value is not None]
    inner = _readable(decode(values[0])) if len(values) == 1 else None
    return inner if isinstance(inner, Mapping) else None


def _choice(choice: object, depth: int) -> list[Any] | None:
    if isinstance(choice, list):
        return _choice(choice[0], depth - 1) if choice and depth > 0 else None
    if not isinstance(choice, Mapping):
        return None
    for key in ("message", "content", "delta"):
        inner = choice.get(key)
        if isinstance(inner, Mapping):
            return [inner if "role" in inner or "lc" in inner else {"role": "assistant", **inner}]
    text = as_str(choice.get("text"))
    return [{"role": "assistant", "content": text}] if text else None


def _is_request(found: Mapping[str, Any]) -> bool:
    return "model" in found or "model_name" in found or "instructions" in found


def _parts_in(value: Any) -> Any:
    found = decode(value)
    if isinstance(found, Mapping) and isinstance(found.get("parts"), list):
        return found["parts"]
    return found
