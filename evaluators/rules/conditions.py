"""Conditions on a call's arguments or a result: a path, and what must be true of the value there.

    {amount: {gt: 100}}                                       an operator
    {currency: EUR}                                           equal
    {status: [complete, done]}                                one of
    {amount: {gt: {result_of: get_order, path: total_eur}}}   against the latest result of another tool
    {"items.*.sku": {matches: "^X"}}                          any element
    {"$": {contains: denied}}                                 the whole value, as text

Telemetry may not hold the value. Then a condition is neither true nor false but None, and nothing is concluded from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from collector.model import JsonValue
from evaluators.pattern import Pattern
from evaluators.squeezing import folded
from evaluators.timeline import parsed
from evaluators.transcript.values import value_text

OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "not_in", "contains", "matches", "exists")
WHOLE = "$"
_WORDS = {
    "eq": "is",
    "ne": "is not",
    "gt": "is over",
    "gte": "is at least",
    "lt": "is under",
    "lte": "is at most",
    "in": "is one of",
    "not_in": "is none of",
    "contains": "contains",
    "matches": "matches",
}
_MAX_SEARCHED_CHARS = 200_000
"""What stands behind them is not known."""

Resolve = Callable[["Reference"], JsonValue]
"""The value that a reference stands for, None where there is none."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A value in the latest result of `tools` before the call in question."""

    tools: tuple[str, ...]
    path: str

    def __str__(self) -> str:
        return f"{self.path} of {' or '.join(self.tools)}"


@dataclass(frozen=True, slots=True)
class Test:
    operator: str
    operand: JsonValue | Reference | Pattern

    def __str__(self) -> str:
        if self.operator == "exists":
            return "is given" if self.operand else "is not given"
        operand = self.operand
        if isinstance(operand, Pattern):
            return f"matches {operand}"
        if isinstance(operand, list | tuple):
            return f"{_WORDS[self.operator]} {', '.join(value_text(item) for item in operand)}"
        return f"{_WORDS[self.operator]} {operand if isinstance(operand, Reference) else value_text(operand)}"


@dataclass(frozen=True, slots=True)
class Condition:
    path: str
    tests: tuple[Test, ...]

    def __str__(self) -> str:
        subject = "it" if self.path == WHOLE else self.path
        return f"{subject} {' and '.join(map(str, self.tests))}"


def words(conditions: Sequence[Condition]) -> str:
    return " and ".join(map(str, conditions))


def holds(conditions: Sequence[Condition], value: JsonValue, *, resolve: Resolve) -> bool | None:
    """All of them; False as soon as one is known to be false."""
    answers = [_holds(condition, value, resolve) for condition in conditions]
    if False in answers:
        return False
    return None if None in answers else True


def _holds(condition: Condition, value: JsonValue, resolve: Resolve) -> bool | None:
    if value is None:
        return None
    if condition.path == WHOLE:
        return _all(test_value(test, value, resolve) for test in condition.tests)
    if not isinstance(value, Mapping | list | tuple):
        return None  # Free text: what it says about this path cannot be known.
    found = list(at_path(value, condition.path))
    if not found:
        return _all(_when_absent(test) for test in condition.tests)
    answers = [_all(test_value(test, item, resolve) for test in condition.tests) for item in found]
    if True in answers:
        return True
    return None if None in answers else False


def _all(answers: Iterator[bool | None]) -> bool | None:
    found = list(answers)
    if False in found:
        return False
    return None if None in found else True


def _when_absent(test: Test) -> bool:
    if test.operator == "exists":
        return not test.operand
    return test.operator in ("ne", "not_in")


def at_path(value: JsonValue, path: str) -> Iterator[JsonValue]:
    """Every value that a dotted path leads to, also into JSON that is a text; `*` is any element. A key with dots in it
    is found as it stands.
    """
    if isinstance(value, Mapping) and path in value:
        yield value[path]
        return
    head, _, rest = path.partition(".")
    for item in _step_into(parsed(value), head):
        if rest:
            yield from at_path(item, rest)
        else:
            yield item


def _step_into(value: JsonValue, key: str) -> Iterator[JsonValue]:
    if isinstance(value, Mapping):
        if key == "*":
            yield from value.values()
        elif key in value:
            yield value[key]
    elif isinstance(value, list | tuple):
        if key == "*":
            yield from value
        elif key.isdecimal() and int(key) < len(value):
            yield value[int(key)]


def test_value(test: Test, value: JsonValue, resolve: Resolve) -> bool | None:
    if isinstance(test.operand, Pattern):
        text = value_text(value)
        found = test.operand.is_in(text[:_MAX_SEARCHED_CHARS])
        return found if found or len(text) <= _MAX_SEARCHED_CHARS else None
    operand = resolve(test.operand) if isinstance(test.operand, Reference) else test.operand
    if operand is None and isinstance(test.operand, Reference):
        return None
    match test.operator:
        case "exists":
            return bool(operand) is (value is not None)
        case "eq":
            return equal(value, operand)
        case "ne":
            return not equal(value, operand)
        case "in" | "not_in":
            options = operand if isinstance(operand, list | tuple) else (operand,)
            return any(equal(value, option) for option in options) is (test.operator == "in")
        case "contains":
            return folded(value_text(operand)) in folded(value_text(value))
        case _:
            return _compare(test.operator, value, operand)


def equal(value: object, expected: object) -> bool:
    """Numbers and booleans also in the spelling of text, since models write `"24.90"` for 24.9."""
    if isinstance(value, bool) or isinstance(expected, bool):
        return _as_bool(value) is not None and _as_bool(value) is _as_bool(expected)
    if isinstance(value, int | float) or isinstance(expected, int | float):
        left, right = number(value), number(expected)
        return left is not None and left == right
    return value == expected


def _as_bool(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().casefold())
    return None


def number(value: object) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float | str):
        try:
            found = float(value)
        except (ValueError, OverflowError):
            return None
        return found if math.isfinite(found) else None
    return None


def _compare(operator: str, value: JsonValue, operand: object) -> bool | None:
    if value is None:
        return False  # It is known that nothing is there.
    left: float | str | None = number(value)
    right: float | str | None = number(operand)
    if left is None and right is None and isinstance(value, str) and isinstance(operand, str):
        left, right = value, operand  # ISO dates and the like sort as text.
    if left is None or right is None:
        return None
    compared = (left > right) - (left < right)  # type: ignore[operator]  # Both are numbers, or both are text.
    return {"gt": compared > 0, "gte": compared >= 0, "lt": compared < 0, "lte": compared <= 0}[operator]
