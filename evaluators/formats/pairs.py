"""Turns as pairs of `input` and `actual_output`, alone or in test cases of one exchange each.

    {"turns": [{"input": "...", "actual_output": "..."}]}
    [{"input": "...", "actual_output": "..."}]
    {"messages": [{"llm_test_case": {"input": "...", "actual_output": "..."}}]}

A turn may also hold `retrieval_context`, `tools_called`, and what it took: `latency` in milliseconds (or `latency_s`),
`usage_info`, `cost_info`, `cost`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from collector.messages.values import as_int, as_str, first, object_or_text
from collector.model import Conversation, JsonValue, ToolCallStep
from evaluators.errors import InputFormError, MissingArgumentError
from evaluators.formats.about import about_of, instruct
from evaluators.formats.building import build
from evaluators.formats.drafting import Drafting, Measures
from evaluators.formats.text import texts, words
from evaluators.timeline import RETRIEVED

INPUT, OUTPUT = ("input", "actual_output")
_CASE = "llm_test_case"
_MAX_TURNS = 100_000
_NS_PER_S = 1e9
_NO_MATTER_WHEN = 1
"""Where only the length of a turn is known; 0 means that no time is."""


def fits(value: object) -> bool:
    if isinstance(value, list):
        return any(_is_pair(item) for item in value)
    if not isinstance(value, Mapping):
        return False
    return _is_pair(value) or any(fits(value.get(key)) for key in ("turns", "messages", "traces"))


def read(value: Any) -> Conversation:
    drafting = Drafting()
    beside: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    turns: object = value
    if isinstance(value, list):
        at = "turns"
    elif _is_pair(value):
        at, turns = "", [value]
    else:
        at = next((key for key in ("turns", "messages", "traces") if fits(beside.get(key))), "turns")
        turns = beside.get(at)
        instruct(beside, drafting)
    for number, item in enumerate(listed(turns, at=at or "turns")):
        _read_pair(item, drafting, at=f"{at}[{number}]." if at else "")
    return build(drafting.turns, about_of(beside), system=drafting.system)


def listed(value: object, *, at: str) -> Sequence[Any]:
    if value is None:
        raise MissingArgumentError(at, f"The argument {at} is missing: give a list with at least one entry.")
    if not isinstance(value, list | tuple):
        raise InputFormError(f"{at} must be a list, not a {type(value).__name__}.")
    if not value:
        raise MissingArgumentError(at, f"{at} is empty: give at least one entry.")
    if len(value) > _MAX_TURNS:
        raise InputFormError(f"{at} has {len(value)} entries; at most {_MAX_TURNS} are read.")
    return value


def tools_called(value: object, drafting: Drafting) -> None:
    """Calls in the form of test cases: each with its name, its parameters and, where known, its output."""
    calls = [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
    if not calls:
        return
    made = [
        ToolCallStep(as_str(call.get("name")) or "", _arguments(call), call_id=as_str(first(call, "id", "call_id")))
        for call in calls
    ]
    drafting.call(made)
    for call, step in zip(calls, made, strict=True):
        key = next((key for key in ("output", "result") if call.get(key) is not None), None)
        if key is not None:
            drafting.give(object_or_text(call[key]), name=step.name, call_id=step.call_id)


def retrieved(value: object, drafting: Drafting) -> None:
    found = texts(value)
    if found:
        drafting.give(found, name=RETRIEVED)


def measures_of(item: Mapping[str, Any]) -> Measures:
    usage = first(item, "usage_info", "usage")
    usage = usage if isinstance(usage, Mapping) else item
    sent = as_int(first(usage, "input_tokens", "prompt_tokens"))
    given = as_int(first(usage, "output_tokens", "completion_tokens"))
    seconds = _number(item, "latency_s") or (_number(item, "latency", "latency_ms") or 0.0) / 1000
    return Measures(
        start_ns=_NO_MATTER_WHEN if seconds else 0,
        end_ns=_NO_MATTER_WHEN + int(min(seconds, 1e9) * _NS_PER_S) if seconds else 0,
        input_tokens=sent if sent is not None and sent >= 0 else None,
        output_tokens=given if given is not None and given >= 0 else None,
        cost_usd=_cost(item, sent, given),
    )


def _read_pair(item: object, drafting: Drafting, *, at: str) -> None:
    case = item.get(_CASE) if isinstance(item, Mapping) else None
    if case is not None:
        item, at = case, f"{at}{_CASE}."
    if not isinstance(item, Mapping):
        raise InputFormError(f"{at.rstrip('.')} must be an object with {INPUT} and {OUTPUT}.")
    for name in (INPUT, OUTPUT):
        if name not in item:
            raise MissingArgumentError(f"{at}{name}", f"The argument {at}{name} is missing.")
    turn = drafting.begin(words(item[INPUT]))
    retrieved(item.get("retrieval_context"), drafting)
    tools_called(item.get("tools_called"), drafting)
    turn.output = words(item[OUTPUT])
    turn.measures = measures_of(item)


def _is_pair(value: object) -> bool:
    return isinstance(value, Mapping) and (OUTPUT in value or _CASE in value) and "role" not in value


def _arguments(call: Mapping[str, Any]) -> JsonValue:
    given = first(call, "input_parameters", "arguments", "args", "input")
    return object_or_text(given) if given is not None else None


def _cost(item: Mapping[str, Any], sent: int | None, given: int | None) -> float | None:
    whole = _number(item, "cost", "cost_usd", "token_cost")
    each = item.get("cost_info")
    if whole is not None or not isinstance(each, Mapping):
        return whole
    found = [
        tokens * price
        for tokens, price in (
            (sent, _number(each, "cost_per_input_token")),
            (given, _number(each, "cost_per_output_token")),
        )
        if tokens is not None and price is not None
    ]
    return sum(found) if found else None


def _number(item: Mapping[str, Any], *keys: str) -> float | None:
    found = first(item, *keys)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        number = float(found)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
