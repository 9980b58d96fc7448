"""Reads the keys of one mapping of configuration: strict about names and types, and every problem with its place.

A reader collects problems and goes on, so that one start reports all of them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

_MAX_SHOWN_CHARS = 80


class KeyReader:
    """`place` is the mapping's own, such as `rules[2]`."""

    def __init__(self, place: str, keys: Mapping[str, object], problems: list[str]) -> None:
        self._place = place
        self._keys = keys
        self._problems = problems

    def problem(self, key: str, value: object, wanted: str) -> None:
        self._problems.append(f"{self._place}.{key} is {shown(value)} and must be {wanted}.")

    def text(self, key: str) -> str | None:
        value = self._keys.get(key)
        if value is None or (isinstance(value, str) and value.strip()):
            return value
        self.problem(key, value, "a text")
        return None

    def texts(self, key: str, *, wanted: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        if key not in self._keys and default is not None:
            return tuple(default)
        value = self._keys.get(key)
        items = [value] if isinstance(value, str) else value
        if isinstance(items, list | tuple) and items and all(isinstance(item, str) and item.strip() for item in items):
            return tuple(item.strip() for item in items)
        self.problem(key, value, wanted)
        return ()

    def count(self, key: str, *, low: int) -> int:
        value = self._keys.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value >= low:
            return value
        self.problem(key, value, f"a whole number of at least {low}")
        return low

    def number(self, key: str, default: float, *, low: float, high: float) -> float:
        value = self._keys.get(key, default)
        if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
            return float(value)
        self.problem(key, value, f"a number from {low:g} to {high:g}")
        return default

    def flag(self, key: str, *, default: bool) -> bool:
        value = self._keys.get(key, default)
        if isinstance(value, bool):
            return value
        self.problem(key, value, "true or false")
        return default

    def choice(self, key: str, default: str, *, of: Sequence[str]) -> str:
        value = self._keys.get(key, default)
        if isinstance(value, str) and value in of:
            return value
        self.problem(key, value, " or ".join(of))
        return default

    def choices(self, key: str, default: Sequence[str], *, of: Sequence[str], prefix: str) -> tuple[str, ...]:
        found = self.texts(key, wanted=f"a list of {', '.join(of)} or {prefix}NAME", default=default)
        for value in found:
            if value not in of and not value.startswith(prefix):
                self.problem(key, value, f"one of {', '.join(of)} or {prefix}NAME{nearest(value, of)}")
        return found

    def only(self, known: Iterable[str]) -> None:
        """Complain about every other key."""
        known = list(known)
        for key in self._keys:
            if key not in known:
                hint = nearest(str(key), known) or f"; known here are {', '.join(known)}"
                self._problems.append(f"{self._place}.{key}: there is no such key{hint}.")


def nearest(word: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(word, list(known), n=1)
    return f"; the nearest known is {found[0]!r}" if found else ""


def shown(value: object) -> str:
    text = repr(value)
    return "not given" if value is None else text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}..."
