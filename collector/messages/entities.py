"""Inputs and outputs of functions, chains and workflows: what in them the user said, the tool was given, the user
was told.

Wrapper spans record a call's Python arguments or a framework's state, not messages. What is read here is only what
stands alone: one text, or one text under a name that frameworks use for it. Where that is not clear the answer is None:
another span tells, or it is a gap.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from collector.messages.payloads import is_message, request_items, response_items
from collector.messages.reprs import decode_fields, decode_repr, is_printed_object, looks_like_repr
from collector.messages.truncation import decode_or_mend
from collector.messages.values import as_str, decode, object_or_text, plain
from collector.model import JsonValue

_ASKED = (
    "input", "user_input", "question", "query", "user_message", "user_prompt", "message", "prompt", "text", "request",
    "task", "goal", "inputs", "input_value", "user_query", "user_msg", "content",
)  # fmt: skip
_TOLD = (
    "output", "answer", "response", "result", "final_output", "final_answer", "text", "content", "message", "outputs",
    "reply", "replies", "raw", "return_value", "final_result", "generation",
)  # fmt: skip
_MAX_DEPTH = 5
_MARKER = re.compile(r"__[A-Za-z]\w*__")


def input_items(value: object) -> list[Any] | None:
    """The messages that an entity was called with: a message list, else the one text that the user said."""
    found = _called_with(_decoded(value))
    items = request_items(found)
    if items is not None:
        return items
    text = _single(found, _ASKED, depth=_MAX_DEPTH)
    return [{"role": "user", "content": text}] if text else None


def output_items(value: object) -> list[Any] | None:
    """The messages that an entity gave back: a message list, else the one text that it answered."""
    found = _decoded(value)
    items = response_items(found)
    if items is not None:
        return items
    text = _single(found, _TOLD, depth=_MAX_DEPTH)
    return [{"role": "assistant", "content": text}] if text else None


def call_arguments(value: object) -> JsonValue:
    """The arguments of a tool, out of the wrappers that decorators and frameworks put around them."""
    found = decode(value)
    for _ in range(3):
        if not isinstance(found, Mapping):
            break
        inner = _unwrapped(found)
        if inner is None:
            break
        found = decode(inner)
    if isinstance(found, str) and found[:1] == "{":
        printed = decode_repr(found)
        found = printed if isinstance(printed, Mapping) else found
    return object_or_text(found) if isinstance(found, str) else plain(found)


def call_result(value: object) -> JsonValue:
    """What a tool gave back, out of the same wrappers, and out of a serialised tool message."""
    found = decode(value)
    for _ in range(3):
        if not isinstance(found, Mapping):
            break
        if set(found) - {"kwargs", "tags", "metadata"} == {"output"}:
            found = decode(found["output"])
        elif _is_tool_message(found):
            body = found.get("kwargs") if isinstance(found.get("kwargs"), Mapping) else found
            found = decode(body.get("content"))  # type: ignore[union-attr]  # a mapping by the line above
        else:
            break
    record = _record(found)
    if record is not None:
        found = record.get("error") if record.get("result") is None else record["result"]
    return object_or_text(found) if isinstance(found, str) else plain(found)


def tool_message(value: object) -> Mapping[str, Any] | None:
    """The fields of a serialised tool message, which names its tool and its call; None for any other value."""
    found = decode(value)
    if isinstance(found, Mapping) and set(found) - {"kwargs", "tags", "metadata"} == {"output"}:
        found = decode(found["output"])
    if not isinstance(found, Mapping) or not _is_tool_message(found):
        return None
    body = found.get("kwargs")
    return body if isinstance(body, Mapping) else found


def is_failure(value: object) -> bool:
    """Whether what a tool gave back is a framework's own record of a failure."""
    record = _record(value)
    return record is not None and (bool(record.get("error")) or record.get("status") in {"failure", "failed", "error"})


def _record(value: object) -> Mapping[str, Any] | None:
    """A framework's printed record of how a tool ended: what it gave and, beside it, how it failed."""
    if isinstance(value, Mapping) and {"raw_input", "raw_output"} <= set(value):
        return {"result": value["raw_output"], "error": None, "status": "error" if value.get("is_error") else None}
    fields = decode_fields(value) if isinstance(value, str) else None
    return fields if fields is not None and {"result", "error"} <= set(fields) else None


def _decoded(value: object) -> Any:
    """JSON, else a printed Python object."""
    found = decode(value)
    if isinstance(found, str) and (looks_like_repr(found) or is_printed_object(found)):
        printed = decode_repr(found)
        return found if printed is None else printed
    return found


def _called_with(found: Any) -> Any:
    """A Python call's only argument, or its keyword arguments."""
    if isinstance(found, Mapping) and found and set(found) <= {"args", "kwargs"}:
        args, kwargs = found.get("args") or [], found.get("kwargs") or {}
        if isinstance(args, list) and len(args) == 1 and not kwargs:
            return decode(args[0])
        if not args:
            return kwargs
    if isinstance(found, Mapping) and "inputs" in found and set(found) <= {"inputs", "tags", "metadata", "kwargs"}:
        return decode(found["inputs"])
    return found


def _single(found: Any, names: tuple[str, ...], *, depth: int) -> str | None:
    if isinstance(found, str):
        return _spoken(found, names, depth=depth)
    if depth <= 0 or not found:
        return None
    if isinstance(found, list):
        return _single(decode(found[0]), names, depth=depth - 1) if len(found) == 1 else None
    if not isinstance(found, Mapping) or _is_on_the_way(found):
        return None
    if set(found) <= {"args", "kwargs"}:
        texts = [item for item in found.get("args") or [] if isinstance(item, str)]
        if texts:
            return texts[0] if len(texts) == 1 else None
        return _single(found.get("kwargs"), names, depth=depth - 1)
    inner = [found[name] for name in names if name in found] or (list(found.values()) if len(found) == 1 else [])
    texts_inside = (_single(decode(value), names, depth=depth - 1) for value in inner)
    return next((text for text in texts_inside if text), None)


def _is_on_the_way(found: Mapping[str, Any]) -> bool:
    """A message of LangChain's, printed without its role, that gives a tool's result or asks for one."""
    if "tool_call_id" in found or found.get("tool_calls"):
        return True
    more = found.get("additional_kwargs")
    return isinstance(more, Mapping) and bool(more.get("tool_calls") or more.get("function_call"))


def _spoken(text: str, names: tuple[str, ...], *, depth: int) -> str | None:
    """A text that somebody may have said. A printed object is none, nor is JSON that was cut; what it holds may be."""
    if decode_or_mend(text)[1] or is_marker(text):
        return None
    if not is_printed_object(text):
        return as_str(text.strip())
    printed = decode_repr(text)
    return _single(printed, names, depth=depth - 1) if printed is not None and depth > 0 else None


def is_marker(text: str) -> bool:
    """A name such as `__end__`, which a graph's router gives."""
    return _MARKER.fullmatch(text.strip()) is not None


def _unwrapped(found: Mapping[str, Any]) -> Any:
    keys = set(found)
    if keys <= {"args", "kwargs"}:
        args, kwargs = found.get("args") or [], found.get("kwargs") or {}
        return kwargs or _only(args, kwargs)
    if isinstance(found.get("args"), list) and isinstance(found.get("kwargs"), Mapping):
        # Beside them are the wrapper's own parameters.
        return _only(found["args"], found["kwargs"])
    if "input_str" in keys:
        return found.get("inputs") or found.get("input_str")
    if keys <= {"inputs", "tags", "metadata", "kwargs"} and "inputs" in keys:
        return found["inputs"]
    return None


def _only(args: object, kwargs: object) -> Any:
    """The keyword arguments of a call that has no others, or its only one; None where both kinds were given."""
    if not args:
        return kwargs
    return args[0] if not kwargs and isinstance(args, list) and len(args) == 1 else None


def _is_tool_message(found: Mapping[str, Any]) -> bool:
    if not is_message(found):
        return False
    identity = found.get("id")
    serialised = isinstance(identity, list) and bool(identity) and "Tool" in str(identity[-1])
    return serialised or found.get("type") == "tool" or found.get("role") == "tool"
