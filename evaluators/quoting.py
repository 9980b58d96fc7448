"""Finds words in a text when only what stands between them differs: punctuation, spaces, marks of emphasis, case.

Judges copy words faithfully and their surroundings freely: they drop asterisks, end a quote with a full stop of their
own, write `book(room="4")` for `book {"room": "4"}`, or leave a stretch out with an ellipsis. Words and numbers must
stand in the text in the same order with nothing between them; a number only matches the same number. A quote in
several pieces must have each of them, in their order.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence

PIECES = " … "
"""Between what is found of a quote in several pieces."""
_ELLIPSIS = re.compile(r"\s*[\[(\uff08]?\s*(?:\.{3,}|…+)\s*[\])\uff09]?\s*")
_NUMBER = r"(?:(?<!\w)-)?\d+(?:[.,:/-]\d+)*"
_LETTER = r"[^\W\d_][\u0300-\u036f]*|[\u0900-\u0dff\u0e00-\u0eff]"
"""With its accents; and the vowel signs of Indian and Thai scripts, which are no letters to Unicode."""
_ESCAPE = r"\\(?:u[0-9a-fA-F]{4}|[nrtbf\"\\/])"
_TOKEN = re.compile(rf"(?P<escape>{_ESCAPE})|(?P<number>{_NUMBER})|(?P<word>{_LETTER})")
_MIN_LETTERS = 10
_MIN_PIECE_LETTERS = 5
_WIDE = 2.5
_MAX_QUOTE_CHARS = 4000
MAX_TEXT_CHARS = 400_000


class Signs:
    """The letters and numbers of a text, written so that no part of a number looks like one; nearly as small as it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._begins, self._ends, self._starts = array("L"), array("L"), array("L")
        written: list[str] = []
        length = 0
        for sign, (begin, end) in _tokens(text):
            written.append(sign)
            self._begins.append(begin)
            self._ends.append(end)
            self._starts.append(length)
            length += len(sign)
        self.written = "".join(written)

    def between(self, start: int, end: int) -> str:
        """The text that stands for this stretch of `written`."""
        first, last = bisect_right(self._starts, start) - 1, bisect_right(self._starts, end - 1) - 1
        return self._text[self._begins[first] : self._ends[last]]


def find_quote(quote: str, text: str) -> str | None:
    """The words as they stand in the text, or None."""
    return find_pieces(pieces_of(quote), Signs(text)) if len(text) <= MAX_TEXT_CHARS else None


def pieces_of(quote: str) -> list[str]:
    """What must be written in a text, one after the other; none where that would prove nothing."""
    pieces = [signs.written for signs in map(Signs, _ELLIPSIS.split(quote[:_MAX_QUOTE_CHARS])) if signs.written]
    weights = [weight(piece) for piece in pieces]
    if sum(weights) < _MIN_LETTERS or any(weight < _MIN_PIECE_LETTERS for weight in weights):
        return []
    return pieces


def find_pieces(pieces: Sequence[str], text: Signs) -> str | None:
    found: list[str] = []
    start = 0
    for piece in pieces:
        at = text.written.find(piece, start)
        if at < 0:
            return None
        start = at + len(piece)
        found.append(text.between(at, start))
    return PIECES.join(found) or None


def _tokens(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    for match in _TOKEN.finditer(text):
        if match["number"]:
            yield f"\0{unicodedata.normalize('NFKC', match[0])}\0", match.span()
        elif match["word"]:
            yield unicodedata.normalize("NFKC", match[0]).casefold(), match.span()


def weight(text: str) -> float:
    """In letters; those of scripts that write a word in one or two weigh more."""
    return sum(1 if sign.isascii() or is_cased(sign) else _WIDE for sign in text if sign != "\0")


def is_cased(sign: str) -> bool:
    """A digit, or a letter of a script with two cases, whose words stand between spaces; not all others do."""
    return unicodedata.category(sign) in ("Ll", "Lu", "Nd")
