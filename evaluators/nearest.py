"""The way out of a name that nobody knows: the nearest that is known, or all of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: object, known: Iterable[object]) -> str | None:
    return next(iter(difflib.get_close_matches(str(word), [str(one) for one in known], n=1)), None)


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """The end of a sentence that says what is not known."""
    names = [str(one) for one in known]
    if not names:
        return "there is none."
    near = nearest(word, names)
    return f"known are {', '.join(names)}." if near is None else f"did you mean {near!r}?"
