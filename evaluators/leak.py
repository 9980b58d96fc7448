"""Keeps the judge's instructions out of verdicts: text of a conversation may ask a judge to recite them.

An answer leaks when it holds the record's mark, or a run of words of the instructions that does not also stand in what
is `known`: the conversation itself, and a configured role.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_RUN = 12
"""Words in a row; shorter runs are how anyone talks about the question."""
_WORD = re.compile(r"\w+")


def leaks(texts: Iterable[str], *, mark: str, instructions: str, known: str) -> bool:
    told = _joined(instructions)
    return any(mark in text or any(run in told and run not in _joined(known) for run in _runs(text)) for text in texts)


def _runs(text: str) -> Iterator[str]:
    words = _WORD.findall(text.lower())
    for start in range(len(words) - _RUN + 1):
        yield f" {' '.join(words[start : start + _RUN])} "


def _joined(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.lower()))} "
