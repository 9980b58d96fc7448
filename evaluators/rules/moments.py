"""Dates and times, as tools want them and as people write them: 2026-03-05, 5.3., March 5th; 20:00, 8 pm, 20 Uhr.

They are the values that are most often worked out ("tomorrow", "in two weeks") instead of copied. So one that stands in
a text is found, and of one that stands nowhere nothing is concluded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evaluators.squeezing import folded

_MONTHS = (
    "january jan januar jänner enero janvier gennaio janeiro januari января",
    "february feb februar febrero février fevrier febbraio fevereiro februari февраля",
    "march mar märz maerz marzo mars março maart марта",
    "april apr abril avril aprile апреля",
    "may mai mayo maggio maio mei мая",
    "june jun juni junio juin giugno junho июня",
    "july jul juli julio juillet luglio julho июля",
    "august aug agosto août aout augustus августа",
    "september sep sept septiembre setiembre septembre settembre setembro сентября",
    "october oct oktober octubre octobre ottobre outubro октября",
    "november nov noviembre novembre novembro ноября",
    "december dec dezember diciembre décembre decembre dicembre dezembro декабря",
)
_MONTH_OF = {name: month for month, names in enumerate(_MONTHS, start=1) for name in names.split()}
_NAME = rf"(?<![^\W\d_])(?P<name>{'|'.join(sorted(_MONTH_OF, key=len, reverse=True))})(?![^\W\d_])\.?"
_DAY = r"(?<!\d)(?P<day>\d{1,2})(?!\d)(?:st|nd|rd|th|er|º|°|\.)?"
_YEAR = r"(?:,? (?:de |of )?(?P<year>\d{4})(?!\d))?"
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})[-/.年년] ?(\d{1,2})[-/.月월] ?(\d{1,2})(?!\d)")
_YEAR_LAST = re.compile(r"(?<![\d./-])(\d{1,2})[-/.] ?(\d{1,2})[-/.] ?(\d{4}|\d{2})(?!\d)")
_NO_YEAR = re.compile(r"(?<![\d./-])(?:(\d{1,2})/(\d{1,2})(?![\d/])|(\d{1,2})\. ?(\d{1,2})\.(?! ?\d))")
"""A point after the month tells a date from an amount."""
_EAST_ASIAN = re.compile(r"(?<!\d)(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日号號일]")
_NAMED = (re.compile(rf"{_DAY} ?(?:de |of )?{_NAME}{_YEAR}"), re.compile(rf"{_NAME} ?(?:the )?{_DAY}{_YEAR}"))
_TIME = re.compile(
    r"(?<![\d.,:])(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d{2})(?::\d{2}(?:\.\d+)?)?)?"
    r" ?(?P<half>[ap]\.?m\b\.?)?(?P<unit>uhr\b|h\b|o'clock\b|[点點時时시])?"
)
_DATE_VALUE = r"(?:\d{4}-\d{1,2}(?:-\d{1,2})?|\d{4}/\d{1,2}/\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{4}|\d{4}-w\d{2}(?:-\d)?)"
_TIME_VALUE = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[ap]m)?(?: ?z| ?[+-]\d{2}:?\d{2})?"
_VALUE = re.compile(rf"(?P<date>{_DATE_VALUE})(?:[t ](?P<later>{_TIME_VALUE}))?|(?P<time>{_TIME_VALUE})")
_LAST_MONTH, _LAST_DAY = 12, 31
_HALF_DAY = 12 * 60


@dataclass(frozen=True, slots=True)
class Date:
    year: int | None
    month: int
    day: int

    def is_said_by(self, said: Date) -> bool:
        """People leave the year out."""
        return (self.month, self.day) == (said.month, said.day) and said.year in (None, self.year)


@dataclass(frozen=True, slots=True)
class SaidMoments:
    """All of a text."""

    dates: frozenset[Date]
    minutes: frozenset[int]


@dataclass(frozen=True, slots=True)
class Moment:
    """A value that is a date, a time, or both."""

    dates: frozenset[Date]
    """What it may mean; none where it is a month or a week."""
    minutes: int | None
    has_date: bool

    def is_said_in(self, said: SaidMoments) -> bool:
        if self.has_date and not any(date.is_said_by(other) for date in self.dates for other in said.dates):
            return False
        return not self.minutes or self.minutes in said.minutes


def moment_of(value: str) -> Moment | None:
    """None where the text is anything else."""
    text = folded(value.strip())
    found = _VALUE.fullmatch(text)
    if found is None:
        return None
    written = found["later"] or found["time"]
    time = _TIME.match(written) if written else None
    minutes = next(_minutes_of(time), None) if time is not None else None
    dates = frozenset(_dates(found["date"])) if found["date"] else frozenset()
    return Moment(dates, minutes, has_date=found["date"] is not None)


def moments_in(text: str) -> SaidMoments:
    """Expects a folded text."""
    return SaidMoments(frozenset(_dates(text)), frozenset(_times(text)))


def _dates(text: str) -> Iterator[Date]:
    for found in _YEAR_FIRST.finditer(text):
        yield from _date(int(found[1]), int(found[2]), int(found[3]))
    for found in _YEAR_LAST.finditer(text):
        first, second, year = int(found[1]), int(found[2]), int(found[3])
        year += 2000 if len(found[3]) == 2 else 0
        yield from _date(year, first, second)
        yield from _date(year, second, first)
    for found in _NO_YEAR.finditer(text):
        first, second = int(found[1] or found[3]), int(found[2] or found[4])
        yield from _date(None, first, second)
        yield from _date(None, second, first)
    for found in _EAST_ASIAN.finditer(text):
        yield from _date(None, int(found[1]), int(found[2]))
    for pattern in _NAMED:
        for found in pattern.finditer(text):
            year_said = int(found["year"]) if found["year"] else None
            yield from _date(year_said, _MONTH_OF[found["name"]], int(found["day"]))


def _date(year: int | None, month: int, day: int) -> Iterator[Date]:
    if 1 <= month <= _LAST_MONTH and 1 <= day <= _LAST_DAY:
        yield Date(year, month, day)


def _times(text: str) -> Iterator[int]:
    for found in _TIME.finditer(text):
        if found["minute"] or found["half"] or found["unit"]:
            yield from _minutes_of(found)


def _minutes_of(found: re.Match[str]) -> Iterator[int]:
    """Without am or pm both halves of the day are meant, the one as written first."""
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if hour > 24 or minute > 59:
        return
    at = hour % 24 * 60 + minute
    half = found["half"]
    if half is None:
        yield at
        if hour <= 12:
            yield (at + _HALF_DAY) % (2 * _HALF_DAY)
    else:
        yield at % _HALF_DAY + (_HALF_DAY if half.startswith("p") else 0)
