"""Reads an evaluator's own options: typed, bounded, and strict about names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from evaluators.errors import EvaluatorConfigError


class OptionReader:
    """Each method takes one option; `finish` complains about what nobody took. Raises `EvaluatorConfigError`."""

    def __init__(self, evaluator: str, options: Mapping[str, object]) -> None:
        self._evaluator = evaluator
        self._options = options
        self._known: list[str] = []

    def number(self, name: str, default: float, *, low: float, high: float) -> float:
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            self._refuse(name, value, f"a number from {low:g} to {high:g}")
        return float(value)

    def optional_number(self, name: str, *, low: float, high: float) -> float | None:
        return None if self._take(name, None) is None else self.number(name, low, low=low, high=high)

    def count(self, name: str, default: int, *, low: int, high: int) -> int:
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self._refuse(name, value, f"a whole number from {low} to {high}")
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        value = self._take(name, default)
        if not isinstance(value, bool):
            self._refuse(name, value, "true or false")
        return value

    def choice(self, name: str, default: str, *, of: Sequence[str]) -> str:
        value = self._take(name, default)
        if not isinstance(value, str) or value not in of:
            self._refuse(name, value, f"one of {', '.join(of)}")
        return value

    def text(self, name: str) -> str | None:
        value = self._take(name, None)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            self._refuse(name, value, "a text that is not empty")
        return value.strip()

    def texts(self, name: str) -> tuple[str, ...]:
        """A text or a list of texts."""
        value = self._take(name, ())
        items = (value,) if isinstance(value, str) else value
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) and item.strip() for item in items):
            self._refuse(name, value, "a text or a list of texts")
        return tuple(item.strip() for item in items)

    def leave(self, names: Iterable[str]) -> None:
        """Options that someone else reads."""
        self._known += names

    def finish(self) -> None:
        for name in self._options:
            if name not in self._known:
                near = difflib.get_close_matches(str(name), self._known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(self._known))}."
                raise EvaluatorConfigError(f"The evaluator {self._evaluator!r} has no option {name!r}; {hint}")

    def _take(self, name: str, default: object) -> object:
        self._known.append(name)
        return self._options.get(name, default)

    def _refuse(self, name: str, value: object, wanted: str) -> NoReturn:
        shown = repr(value)[:80]
        raise EvaluatorConfigError(f"The option {name!r} of {self._evaluator!r} is {shown} and must be {wanted}.")
