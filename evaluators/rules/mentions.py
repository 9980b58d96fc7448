"""Whether a value stands in some texts, in whatever form people and tools write it.

Text is compared without regard to case, width, spaces and punctuation, but never with a part of a number; numbers by
their value, so 24.9 stands in "24,90 EUR" and 1200 in "1,200"; telephone numbers with or without the country's code;
dates and times in the forms of `moments`. What is not found in any form is not there as far as one can tell without a
model, except for dates and times: they can be worked out of other words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from collector.model import JsonValue
from evaluators.rules.conditions import number
from evaluators.rules.moments import SaidMoments, moment_of, moments_in
from evaluators.rules.quantities import is_in_words, numbers_in, scaled_in
from evaluators.squeezing import folded, squeezed
from evaluators.timeline import leaves

_MAX_CHARS = 200_000
_BETWEEN_DIGITS = re.compile(r"(?<=\d)([\W_]+)(?=\d)")
_TOGETHER = re.compile(r"[^\n]|[ ().\-/]{2,3}")
"""What may stand there within one number, such as a telephone's or a card's."""
_PHONE = re.compile(r"(?<![\w+])[+(]?\d[\d ().\-/\u00a0\u2010-\u2015]{5,22}\d(?!\w)")
_PHONE_STARTS = ("+", "(", "0")
_MAX_PLACES = 100
_NOT_DIGIT = re.compile(r"\D")
_LEAST_DIGITS = 7
"""Of a telephone number without the code of its country."""


class Reading:
    """One text, read once, and in each way only when somebody asks."""

    def __init__(self, text: str) -> None:
        self.plain = folded(text[:_MAX_CHARS])
        self.squeezed = squeezed(self.plain)

    def has(self, value: str, squeezed_value: str) -> bool:
        """Whether the value, which is known to be in `squeezed`, stands there as itself and not in a longer number."""
        if not any(map(str.isdigit, squeezed_value)):
            return True
        verbatim = (
            _splits_number(self.plain, at) or _splits_number(self.plain, at + len(value))
            for at in _places(value, self.plain)
        )
        return not all(verbatim) or any(
            self._stands(at, squeezed_value) for at in _places(squeezed_value, self.squeezed)
        )

    def _stands(self, at: int, squeezed_value: str) -> bool:
        start, end = self._signs[at], self._signs[at + len(squeezed_value) - 1] + 1
        if _splits_number(self.plain, start) or _splits_number(self.plain, end):
            return False
        return all(_TOGETHER.fullmatch(gap[1]) for gap in _BETWEEN_DIGITS.finditer(self.plain[start:end]))

    @cached_property
    def _signs(self) -> list[int]:
        """Where each sign of `squeezed` stands in `plain`."""
        return [place for place, sign in enumerate(self.plain) if sign.isalnum()]

    def tells(self, wanted: float) -> bool:
        """In words, or with a scale."""
        return wanted in self._scaled or is_in_words(wanted, self.plain)

    @cached_property
    def _scaled(self) -> frozenset[float]:
        return frozenset(scaled_in(self.plain))

    @cached_property
    def moments(self) -> SaidMoments:
        return moments_in(self.plain)

    @cached_property
    def phones(self) -> list[tuple[str, bool]]:
        return [(_digits(found[0]), found[0].startswith(_PHONE_STARTS)) for found in _PHONE.finditer(self.plain)]


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
        if wanted is not None and any(page.tells(abs(wanted)) for page in pages):
            return True
        if not isinstance(value, str):
            return False
        moment = moment_of(value)
        if moment is not None:
            return any(moment.is_said_in(page.moments) for page in pages) or None
        return _is_phone(value) and any(_same_phone(value, *said) for page in pages for said in page.phones)

    def _is_written(self, value: str, limit: int) -> bool:
        if not self._joined:
            self._joined = "\n".join(page.squeezed for page in self._pages)
        plain = folded(value)
        wanted = squeezed(plain)
        if not wanted:
            return limit > 0
        start, page = 0, 0
        while (at := self._joined.find(wanted, start)) >= 0:
            page += self._joined.count("\n", start, at)
            if page >= limit:
                return False
            if self._pages[page].has(plain, wanted):
                return True
            start = self._joined.find("\n", at) + 1
            page += 1
            if not start:
                return False
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


def _same_phone(value: str, other: str, is_written_as_one: bool) -> bool:  # noqa: FBT001 - as it is kept
    """One of them may be without the code of the country, and the other one with a 0 in its place."""
    digits = _digits(value)
    if not (is_written_as_one or value.strip().startswith(_PHONE_STARTS)):
        return False
    return min(len(digits), len(other)) >= _LEAST_DIGITS and (digits.endswith(other) or other.endswith(digits))


def _digits(phone: str) -> str:
    return _NOT_DIGIT.sub("", phone).lstrip("0")


def _places(part: str, text: str) -> Iterator[int]:
    """The first ones; no text of a kind that people write has more of them."""
    at = text.find(part)
    for _ in range(_MAX_PLACES):
        if at < 0:
            return
        yield at
        at = text.find(part, at + 1)
