"""A unit as deterministic rules and checks read it: its tool calls in order, each with its result, if one is known.

Results are paired by call id, else by name and order within the turn. `order` counts steps through the whole
conversation, so "before" is a comparison of two numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from collector.model import JsonValue, ToolCallStep, ToolResultStep, Turn
from evaluators.transcript.turn_places import call_text, result_text
from evaluators.verdict import Evidence, Unit, UnitKind

RETRIEVED = "retrieval_context"
"""The name of a result that holds what was retrieved for a turn; no call of the agent stands for it."""
_MAX_QUOTE_CHARS = 400
_MAX_PARSED_CHARS = 1 << 20
_ERROR_TEXT = re.compile(
    r"\s*(?:error(?:\s+(?:executing|calling|invoking|running|occurred)\b|\s*[:(\[])|an error occurred\b|exception\s*:|"
    r"\w+(?:error|exception)\s*:|traceback \(most recent call last|tool (?:execution|call) failed\b)",
    re.IGNORECASE,
)
_SINGLE = (str, int, float)
_NO_ERROR = frozenset({"", "none", "null", "no", "false", "no error", "ok"})
_FAILED_STATUS = frozenset({"error", "failed", "failure"})


@dataclass(frozen=True, slots=True)
class Result:
    step: ToolResultStep
    turn: Turn
    number: int
    order: int
    value: JsonValue
    """Parsed where it came as JSON text."""
    failed: bool

    @classmethod
    def of(cls, turn: Turn, number: int, step: ToolResultStep, *, first_order: int = 0) -> Result:
        value = parsed(step.result)
        return cls(step, turn, number, first_order + number, value, step.is_error or says_failed(value))

    def evidence(self) -> Evidence:
        quote = result_text(self.step, named=False)[:_MAX_QUOTE_CHARS]
        return Evidence(self.turn.index, self.number, quote, self.step.span_id or self.turn.span_id)


@dataclass(frozen=True, slots=True)
class Call:
    step: ToolCallStep
    turn: Turn
    number: int
    """Index of the step within its turn."""
    order: int
    position: int
    """Among the calls of the conversation."""
    result: Result | None
    """None: nobody sent one."""

    @property
    def name(self) -> str:
        return self.step.name

    @property
    def arguments(self) -> JsonValue:
        """Parsed where they came as JSON text; None where they are not known."""
        return parsed(self.step.arguments)

    @property
    def failed(self) -> bool:
        """It is known to have failed; without a result nothing is known."""
        return self.result is not None and self.result.failed

    @property
    def place(self) -> str:
        return f"turn {self.turn.index}, step {self.number}"

    def evidence(self) -> Evidence:
        quote = call_text(self.step)[:_MAX_QUOTE_CHARS]
        return Evidence(self.turn.index, self.number, quote, self.step.span_id or self.turn.span_id)


@dataclass(frozen=True, slots=True)
class Timeline:
    unit: Unit
    calls: tuple[Call, ...]
    results: tuple[Result, ...]
    by_name: Mapping[str, tuple[Call, ...]]

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.unit.conversation.turns

    @property
    def judged_turns(self) -> tuple[Turn, ...]:
        return (self.unit.turn,) if self.unit.kind is UnitKind.TURN else self.turns

    def is_judged(self, turn: Turn) -> bool:
        return self.unit.kind is UnitKind.CONVERSATION or turn is self.unit.turn

    def calls_of(self, fits: Callable[[str], bool]) -> list[Call]:
        """Calls of the tools whose names fit, in order; each name is looked at once."""
        named = [calls for name, calls in self.by_name.items() if fits(name)]
        if len(named) <= 1:
            return list(named[0]) if named else []
        return sorted(chain.from_iterable(named), key=_position)


def timeline_of(unit: Unit) -> Timeline:
    calls: list[Call] = []
    results: list[Result] = []
    order = 0
    for turn in unit.conversation.turns:
        found = [
            Result.of(turn, number, step, first_order=order)
            for number, step in enumerate(turn.steps)
            if isinstance(step, ToolResultStep)
        ]
        results += found
        pairs = _pairs(turn, found)
        for number, step in enumerate(turn.steps):
            if isinstance(step, ToolCallStep):
                calls.append(Call(step, turn, number, order + number, len(calls), pairs.get(number)))
        order += len(turn.steps)
    _pair_across_turns(calls, results)
    by_name: dict[str, list[Call]] = {}
    for call in calls:
        by_name.setdefault(call.name, []).append(call)
    return Timeline(unit, tuple(calls), tuple(results), {name: tuple(found) for name, found in by_name.items()})


def _position(call: Call) -> int:
    return call.position


def _pairs(turn: Turn, found: list[Result]) -> dict[int, Result]:
    by_id: dict[str, list[Result]] = {}
    for result in reversed(found):
        if result.step.call_id is not None:
            by_id.setdefault(result.step.call_id, []).append(result)
    pairs: dict[int, Result] = {}
    for number, step in enumerate(turn.steps):
        waiting = by_id.get(step.call_id) if isinstance(step, ToolCallStep) and step.call_id is not None else None
        if waiting:
            pairs[number] = waiting.pop()  # Some frameworks give all calls of a turn one id.
    free = [result for result in found if result.step.call_id is None]
    for number, step in enumerate(turn.steps):
        if isinstance(step, ToolCallStep) and number not in pairs:
            match = next(
                (result for result in free if result.number > number and result.step.name in (None, step.name)), None
            )
            if match is not None:
                free.remove(match)
                pairs[number] = match
    return pairs


def _pair_across_turns(calls: list[Call], results: list[Result]) -> None:
    """A result may come in a later turn, after a user's approval, say."""
    taken = {id(call.result.step) for call in calls if call.result is not None}
    late = {
        result.step.call_id: result
        for result in reversed(results)
        if result.step.call_id is not None and id(result.step) not in taken
    }
    for position, call in enumerate(calls):
        result = late.get(call.step.call_id) if call.result is None and call.step.call_id is not None else None
        if result is not None and result.order > call.order:
            calls[position] = replace(call, result=result)


def parsed(value: JsonValue) -> JsonValue:
    """A text that is a JSON object or list, as that; anything else as it is."""
    if isinstance(value, str) and len(value) <= _MAX_PARSED_CHARS and value.lstrip()[:1] in ("{", "["):
        try:
            found: JsonValue = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return found
    return value


def is_retrieved(step: ToolResultStep) -> bool:
    """Context that was retrieved for the turn: a result that no call of the agent stands for."""
    return step.name == RETRIEVED and step.call_id is None


def says_failed(value: JsonValue) -> bool:
    """Whether a result says so itself, since many instrumentations mark no errors. Only the plainest forms count."""
    if isinstance(value, str):
        return _ERROR_TEXT.match(value) is not None
    if not isinstance(value, Mapping):
        return False
    if _names_error(value.get("error")):
        return True
    if value.get("isError") is True or value.get("is_error") is True or value.get("success") is False:
        return True
    status = value.get("status")
    return value.get("ok") is False or (isinstance(status, str) and status.casefold() in _FAILED_STATUS)


def _names_error(error: JsonValue) -> bool:
    """A number is a code that may mean success, or a measure."""
    if isinstance(error, str):
        return error.strip().casefold() not in _NO_ERROR
    return error is True or (bool(error) and not isinstance(error, int | float))


def leaves(value: JsonValue, *, depth: int = 32, keys: bool = False) -> Iterator[bool | int | float | str]:
    """Every single value in a JSON value, in order, also in JSON that is a text in it; what is nested deeper is left
    out, and so are keys unless they are asked for.
    """
    left = [(value, depth)]
    while left:
        item, depth = left.pop()
        if isinstance(item, str) and depth:
            item = parsed(item)
        if isinstance(item, _SINGLE):
            yield item
        elif isinstance(item, dict) or (not isinstance(item, list | tuple) and isinstance(item, Mapping)):
            parts = chain.from_iterable(item.items()) if keys else item.values()
            left += [(part, depth - 1) for part in reversed(list(parts))] if depth else []
        elif isinstance(item, list | tuple) and depth:
            left += [(part, depth - 1) for part in reversed(item)]
