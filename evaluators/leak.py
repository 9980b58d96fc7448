"""Keeps the judge's instructions out of verdicts: text of a conversation may ask a judge to recite them.

An answer leaks when it holds the record's mark, or a run of words of the instructions that does not also stand in what
is `known`: the conversation itself, and a configured role. A criterion that a judge quotes on its way is left out of
the verdict, and so is the mark where it cites a place with it; a recital makes the answer one that nobody can trust.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

LEFT_OUT = "(left out: it repeats the judge's instructions)"
_RUN = 12
"""Words in a row; shorter runs are how anyone talks about the question."""
_RECITAL = 40
"""As many are more than any one criterion has."""
_WORD = re.compile(r"\w+")


def leaks(texts: Iterable[str], *, mark: str, instructions: str, known: str) -> bool:
    return any(mark in text or _repeats(text, instructions, known, run=_RUN) for text in texts)


def recites(texts: Iterable[str], *, instructions: str, known: str) -> bool:
    return any(_repeats(text, instructions, known, run=_RECITAL) for text in texts)


def without_leaks(text: str, *, mark: str, instructions: str, known: str) -> str:
    if mark in text:
        text = re.sub(rf"#?{re.escape(mark)} ?", "", text)
    return LEFT_OUT if _repeats(text, instructions, known, run=_RUN) else text


def _repeats(text: str, instructions: str, known: str, *, run: int) -> bool:
    runs = list(_runs(text, run))
    if not runs:
        return False
    told = _told(instructions)
    repeated = [words for words in runs if words in told]
    if not repeated:
        return False
    said = _joined(known)
    return any(words not in said for words in repeated)


@lru_cache(maxsize=8)
def _told(instructions: str) -> str:
    """Each text of an answer is held against the same instructions."""
    return _joined(instructions)


def _runs(text: str, run: int) -> Iterator[str]:
    words = _WORD.findall(text.lower())
    for start in range(len(words) - run + 1):
        yield f" {' '.join(words[start : start + run])} "


def _joined(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.lower()))} "
