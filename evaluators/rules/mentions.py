"""Whether a value stands in some texts, in whatever form people and tools write it.

Text is compared without regard to case, width, spaces and punctuation; numbers by their value, so 24.9 stands in
"24,90 EUR" and 1200 in "1,200". What is not found in any form is not there as far as one can tell without a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from collector.model import JsonValue
from evaluators.rules.conditions import number
from evaluators.squeezing import folded, squeezed
from evaluators.timeline import leaves

_NUMBER = re.compile(r"\d+(?:[.,'\u2019\u00a0\u202f ]\d+)*")
_NOT_DIGIT = re.compile(r"\D")
_MAX_DIGITS = 300
_MAX_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class Reading:
    """One text, read once."""

    plain: str
    squeezed: str

    def numbers(self) -> set[float]:
        """Looked for only when a number is: most values that are looked for are none."""
        tokens = set(_NUMBER.findall(self.plain))
        found = {float(token) for token in tokens if token.isdecimal()}
        for token in tokens:
            if not token.isdecimal():
                found |= _readings(token)
        return found


def read(text: str) -> Reading:
    plain = folded(text[:_MAX_CHARS])
    return Reading(plain, squeezed(plain))


def mentions(readings: Iterable[Reading], value: JsonValue) -> bool:
    """All single values of it, each in any of the texts."""
    book = Book()
    for reading in readings:
        book.add(reading)
    return book.holds(value)


class Book:
    """Texts one after the other, so that one search tells whether and how early a value stands there."""

    def __init__(self) -> None:
        self._pages: list[Reading] = []
        self._joined = ""
        self._numbers: dict[float, int] = {}
        self._numbered = 0
        """Pages whose numbers are in `_numbers`."""

    @property
    def length(self) -> int:
        """Number of texts so far."""
        return len(self._pages)

    def add(self, reading: Reading) -> None:
        self._pages.append(reading)
        self._joined = ""

    def holds(self, value: JsonValue, *, first: int | None = None) -> bool:
        """All single values of it, in the `first` so many texts."""
        limit = self.length if first is None else first
        return all(self._first_page(leaf) < limit for leaf in leaves(value))

    def _first_page(self, value: JsonValue) -> int:
        if isinstance(value, bool):
            return -1  # A yes or no has no form of its own to look for.
        wanted = number(value)
        by_number = self.length if wanted is None else self._page_of(abs(wanted))
        if not self._joined:
            self._joined = "\n".join(page.squeezed for page in self._pages)
        found = self._joined.find(squeezed(folded(str(value))))
        return by_number if found < 0 else min(by_number, self._joined.count("\n", 0, found))

    def _page_of(self, number: float) -> int:
        for page in range(self._numbered, self.length):
            for found in self._pages[page].numbers():
                self._numbers.setdefault(found, page)
        self._numbered = self.length
        return self._numbers.get(number, self.length)


def _readings(token: str) -> set[float]:
    """Every number that a token of several parts may be: "1,200" is 1200 or 1.2, and "3 4" is 3, 4 or 34."""
    parts = [part for part in _NOT_DIGIT.split(token) if part]
    if sum(map(len, parts)) > _MAX_DIGITS:
        return set()
    return {*map(float, parts), float("".join(parts)), float("".join(parts[:-1]) + "." + parts[-1])}
