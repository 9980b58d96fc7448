"""Reads a judge request's record back into places and content, as a program that knows only the documented form would.

The form: lines that start with `#` and the record's mark are structure, lines that start with `| ` are content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARK = re.compile(r'"#([0-9a-f]+) "')


@dataclass(frozen=True, slots=True)
class Place:
    at: str
    """`system`, `tools`, `t0.user`, `t0.3`, `t0.answer` ..."""
    words: str
    """The rest of the structural line: `call`, `result of t0.0` ..."""
    content: str

    @property
    def turn(self) -> int | None:
        found = re.match(r"t(\d+)\.", self.at)
        return int(found[1]) if found else None


@dataclass(frozen=True, slots=True)
class Note:
    """What is carried from turns that are not shown."""

    number: int
    word: str
    content: str


@dataclass(frozen=True, slots=True)
class Record:
    places: tuple[Place, ...]
    question: str
    """What follows the end of the record."""

    @property
    def notes(self) -> list[Note]:
        found: list[Note] = []
        for place in self.places:
            number, _, words = place.words.partition(": ")
            if place.at == "note" and number.isdigit():
                found.append(Note(int(number), words.split(",")[0], place.content))
        return found

    def find(self, at: str) -> Place | None:
        return next((place for place in self.places if place.at == at), None)

    def of_turn(self, turn: int) -> list[Place]:
        return [place for place in self.places if place.turn == turn]

    @property
    def turns(self) -> list[int]:
        return sorted({place.turn for place in self.places if place.turn is not None})


def mark_of(request_text: str) -> str:
    """The record's mark, as the first message announces it."""
    found = _MARK.search(request_text)
    if found is None:
        raise ValueError("The request announces no mark.")
    return found[1]


def read_record(request_text: str) -> Record:
    mark = mark_of(request_text)
    prefix = f"#{mark} "
    places: list[Place] = []
    lines = request_text.split("\n")
    for number, line in enumerate(lines):
        if line.startswith(prefix):
            at, _, words = line.removeprefix(prefix).partition(" ")
            if at == "end":
                return Record(tuple(places), "\n".join(lines[number + 1 :]))
            places.append(Place(at, words, ""))
        elif line.startswith("| ") and places:
            last = places[-1]
            text = line.removeprefix("| ")
            places[-1] = Place(last.at, last.words, f"{last.content}\n{text}" if last.content else text)
    raise ValueError("The record has no end.")
