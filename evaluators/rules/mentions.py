"""Whether a value stands in some texts, in whatever form people and tools write it.

Text is compared without regard to case, width, spaces and punctuation, but never with a part of a number; numbers by
their value, so 24.9 stands in "24,90 EUR" and 1200 in "1,200"; telephone numbers with or without the country's code;
dates and times in the forms of `moments`. What is not found in any form is not there as far as one can tell without a
model, except for dates and times: they can be worked out of other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from collector.model import JsonValue
from evaluators.rules.conditions import number
from evaluators.rules.moments import moment_of
from evaluators.rules.quantities import is_in_words, numbers_in
from evaluators.squeezing import folded, squeezed
from evaluators.timeline import leaves

_MAX_CHARS = 200_000
_BETWEEN_DIGITS = re.compile(r"(?<=\d)([\W_]+)(?=\d)")
_TOGETHER = re.compile(r"[^\n]|[ ().\-/]{2,3}")
"""What may stand there within one number, such as a telephone's or a card's."""
_PHONE = re.compile(r"(?<![\w+])[+(]?\d[\d ().\-/\u00a0\u2010-\u2015]{5,22}\d(?!\w)")
_PHONE_STARTS = ("+", "(", "0")
_NOT_DIGIT = re.compile(r"\D")
_LEAST_DIGITS = 7
"""Of a telephone number without the code of its country."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One text, read once."""

    plain: str
    squeezed: str

    def has(self, value: str, squeezed_value: str, at: int) -> bool:
        """Whether what `squeezed` has at this place is the value, and not digits of a longer number or of several."""
        if not any(map(str.isdigit, squeezed_value)) or self._has_verbatim(value):
            return True
        places = [place for place, sign in enumerate(self.plain) if sign.isalnum()]
        start, end = places[at], places[at + len(squeezed_value) - 1] + 1
        if _splits_number(self.plain, start) or _splits_number(self.plain, end):
            return False
        return all(_TOGETHER.fullmatch(gap[1]) for gap in _BETWEEN_DIGITS.finditer(self.plain[start:end]))

    def _has_verbatim(self, value: str) -> bool:
        at = self.plain.find(value)
        while at >= 0:
            if not _splits_number(self.plain, at) and not _splits_number(self.plain, at + len(value)):
                return True
            at = self.plain.find(value, at + 1)
        return False


def read(text: str) -> Reading:
    plain = folded(text[:_MAX_CHARS])
    return Reading(plain, squeezed(plain))


class Book:
    """Texts one after the other, so that one search tells whether and how early a value stands there."""

    def __init__(self, readings: Iterable[Reading] = ()) -> None:
        self._pages: list[Reading] = list(readings)
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

    def holds(self, value: JsonValue, *, first: int | None = None) -> bool | None:
        """All single values of it, in the `first` so many texts; None where one of them may have been worked out."""
        limit = self.length if first is None else first
        answers = [self._holds(leaf, limit) for leaf in leaves(value)]
        return False if False in answers else None if None in answers else True

    def _holds(self, value: JsonValue, limit: int) -> bool | None:
        if isinstance(value, bool):
            return True  # A yes or no has no form of its own to look for.
        if self._is_numbered(value, limit) or self._is_written(str(value), limit):
            return True
        pages = self._pages[:limit]
        wanted = number(value)
        if wanted is not None and any(is_in_words(abs(wanted), page.plain) for page in pages):
            return True
        if not isinstance(value, str):
            return False
        moment = moment_of(value)
        if moment is not None:
            return any(moment.is_said_in(page.plain) for page in pages) or None
        return _is_phone(value) and any(_same_phone(value, page.plain) for page in pages)

    def _is_written(self, value: str, limit: int) -> bool:
        if not self._joined:
            self._joined = "\n".join(page.squeezed for page in self._pages)
        plain = folded(value)
        wanted = squeezed(plain)
        if not wanted:
            return limit > 0
        at = self._joined.find(wanted)
        page = self._joined.count("\n", 0, max(0, at))
        while at >= 0 and page < limit:
            start = self._joined.rfind("\n", 0, at) + 1
            if self._pages[page].has(plain, wanted, at - start):
                return True
            following = self._joined.find(wanted, at + 1)
            page += self._joined.count("\n", at, max(at, following))
            at = following
        return False

    def _is_numbered(self, value: JsonValue, limit: int) -> bool:
        wanted = number(value)
        if wanted is None:
            return False
        for page in range(self._numbered, self.length):
            for found in numbers_in(self._pages[page].plain):
                self._numbers.setdefault(found, page)
        self._numbered = self.length
        return self._numbers.get(abs(wanted), self.length) < limit


def _splits_number(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isdigit() and text[at].isdigit()


def _is_phone(value: str) -> bool:
    return _PHONE.fullmatch(value.strip()) is not None


def _same_phone(value: str, text: str) -> bool:
    """One of them may be without the code of the country, and the other one with a 0 in its place."""
    digits = _NOT_DIGIT.sub("", value).lstrip("0")
    for found in _PHONE.finditer(text):
        other = _NOT_DIGIT.sub("", found[0]).lstrip("0")
        is_phone = value.strip().startswith(_PHONE_STARTS) or found[0].startswith(_PHONE_STARTS)
        is_same = digits.endswith(other) or other.endswith(digits)
        if is_phone and is_same and min(len(digits), len(other)) >= _LEAST_DIGITS:
            return True
    return False
