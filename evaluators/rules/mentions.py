"""Whether a value stands in some texts, in whatever form people and tools write it.

Text is compared without regard to case, width, spaces and punctuation; numbers by their value, so 24.9 stands in
"24,90 EUR" and 1200 in "1,200". What is not found in any form is not there as far as one can tell without a model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from collector.model import JsonValue
from evaluators.rules.conditions import number
from evaluators.timeline import leaves

_NUMBER = re.compile(r"\d+(?:[.,'\u2019\u00a0\u202f ]\d+)*")
_NOT_WORD = re.compile(r"[\W_]+")
_MAX_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class Reading:
    """One text, read once."""

    squeezed: str
    numbers: frozenset[float]


def read(text: str) -> Reading:
    plain = unicodedata.normalize("NFKC", text[:_MAX_CHARS]).casefold()
    numbers = {reading for token in _NUMBER.findall(plain) for reading in _readings(token)}
    return Reading(_squeezed(plain), frozenset(numbers))


class Haystack:
    def __init__(self, readings: Iterable[Reading]) -> None:
        self._readings = list(readings)

    def holds(self, value: JsonValue) -> bool:
        """All single values of it."""
        return all(self._holds(leaf) for leaf in leaves(value))

    def _holds(self, value: JsonValue) -> bool:
        if isinstance(value, bool):
            return True  # A yes or no has no form of its own to look for.
        wanted = number(value)
        if wanted is not None and any(abs(wanted) in reading.numbers for reading in self._readings):
            return True
        needle = _squeezed(unicodedata.normalize("NFKC", str(value)).casefold())
        return any(needle in reading.squeezed for reading in self._readings)


def _squeezed(text: str) -> str:
    return _NOT_WORD.sub("", text)


def _readings(token: str) -> set[float]:
    """Every number that a token may be: "1,200" is 1200 or 1.2, and "3 4" is 3, 4 or 34."""
    parts = re.split(r"\D", token)
    found = {float(part) for part in parts if len(part) < 300}
    whole = "".join(parts)
    if len(whole) < 300:
        found.add(float(whole))
        found.add(float("".join(parts[:-1]) + "." + parts[-1]) if len(parts) > 1 else float(whole))
    return found
