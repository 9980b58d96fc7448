"""Fits the places of a conversation into a budget of tokens, with every cut visible and the coverage known.

Within the budget nothing is touched. Over it, long contents are shortened in their middle, in steps, until all fits:
first what no one asked to keep, then, and less, what is pinned (system prompt, user inputs, errors, the last turns).
When even that is too much, whole places are left out: unpinned ones first, the oldest first. The steps are few and
fixed, so that a conversation which grows past the budget changes its form, and its cached prefix, seldom.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.transcript.place import Place
from evaluators.transcript.tokens import estimate_tokens

_LAST_TURNS = 2
_LINE_TOKENS = 16
"""What a structural line costs at most."""
_CAPS: Sequence[tuple[int, int]] = ((4000, 24000), (1500, 12000), (600, 6000), (200, 3000), (60, 1200), (0, 400))
"""The most characters of an unpinned and of a pinned content, step by step."""
_MILD_STEPS = 2
"""So many of them cost little more than the middle of long results."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A place as it is shown: its content in one piece, or the beginning and the end of it."""

    place: Place
    head: str | None
    cut_chars: int = 0
    tail: str = ""

    @property
    def tokens(self) -> int:
        """Counts what quoting adds to each line."""
        text = (self.head or "") + self.tail
        return _LINE_TOKENS * (2 if self.cut_chars else 1) + estimate_tokens(text) + text.count("\n")


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Places next to each other that are not shown at all."""

    first_at: str
    last_at: str
    count: int


@dataclass(frozen=True, slots=True)
class View:
    items: tuple[Shown | LeftOut, ...]
    shown_chars: int
    """Of content, without what an earlier pass has shown already."""
    total_chars: int
    is_squeezed: bool = False
    """So much had to go that messages lose their substance, not only long contents their middle."""

    @property
    def coverage(self) -> float:
        return coverage(self.shown_chars, self.total_chars)


def coverage(shown_chars: int, total_chars: int) -> float:
    """Shown characters of content / all characters of content."""
    return round(shown_chars / total_chars, 4) if total_chars else 1.0


def view_of(places: Sequence[Place], *, max_tokens: int) -> View:
    """Expects escaped texts: what is counted here is what is sent."""
    shown = [_shorten(place, None) for place in places]
    if tokens_of(shown) <= max_tokens:
        return _view(places, shown)
    last = max((place.turn for place in places if place.turn is not None), default=0)
    for step, caps in enumerate(_CAPS):
        shown = [_capped(place, caps, last) for place in places]
        if tokens_of(shown) <= max_tokens:
            return _view(places, shown, is_squeezed=step >= _MILD_STEPS)
    return _leave_out(places, shown, last=last, max_tokens=max_tokens)


def tokens_of(shown: Sequence[Shown]) -> int:
    return sum(item.tokens for item in shown)


def mildly_shortened(places: Sequence[Place]) -> list[Shown]:
    """Long contents cut in their middle, as far as nobody misses much."""
    return [_capped(place, _CAPS[_MILD_STEPS - 1], last=sys.maxsize) for place in places]


def _capped(place: Place, caps: tuple[int, int], last: int) -> Shown:
    cap, pinned_cap = caps
    return _shorten(place, pinned_cap if place.pinned or _is_last(place, last) else cap)


def _view(
    places: Sequence[Place],
    shown: Sequence[Shown],
    *,
    left_out: Sequence[Shown | LeftOut] = (),
    is_squeezed: bool = False,
) -> View:
    total = sum(len(place.text or "") for place in places if not place.is_repeated)
    seen = sum(len(item.head or "") + len(item.tail) for item in shown if not item.place.is_repeated)
    return View(tuple(left_out or shown), seen, total, is_squeezed)


def _is_last(place: Place, last: int) -> bool:
    return place.turn is not None and place.turn > last - _LAST_TURNS


def _shorten(place: Place, cap: int | None) -> Shown:
    text = place.text
    caps = [limit for limit in (cap, place.max_chars) if limit is not None]
    cap = min(caps, default=None)
    if text is None or cap is None or len(text) <= cap:
        return Shown(place, text)
    head = cap * 2 // 3
    tail = cap - head
    return Shown(place, text[:head], len(text) - cap, text[len(text) - tail :] if tail else "")


def _leave_out(places: Sequence[Place], shown: Sequence[Shown], *, last: int, max_tokens: int) -> View:
    newest_first = sorted(range(len(shown)), reverse=True, key=lambda i: (_rank(shown[i].place, last), i))
    kept: set[int] = set()
    left = max_tokens
    for i in newest_first:
        cost = shown[i].tokens + _LINE_TOKENS  # The line that says what is left out before it.
        if cost <= left:
            kept.add(i)
            left -= cost
    items: list[Shown | LeftOut] = []
    for i, item in enumerate(shown):
        previous = items[-1] if items else None
        if i in kept:
            items.append(item)
        elif isinstance(previous, LeftOut):
            items[-1] = LeftOut(previous.first_at, item.place.at, previous.count + 1)
        else:
            items.append(LeftOut(item.place.at, item.place.at, 1))
    return _view(places, [shown[i] for i in sorted(kept)], left_out=items, is_squeezed=True)


def _rank(place: Place, last: int) -> int:
    """How much a place is wanted: the prompt, then the last turns, then what is pinned, then the rest."""
    if place.turn is None:
        return 3 if place.pinned else 0
    return 2 if _is_last(place, last) else 1 if place.pinned else 0
