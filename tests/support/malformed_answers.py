"""Answers as broken judges give them, made of a good one: cut, mistyped, mangled, wrapped in prose."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

_WRONG: Sequence[Any] = (None, 17.0, -1, "", "maybe", "PASS", [], {}, [None], {"verdict": "pass"}, True, "\ud83d")
_PROSE = ("I think", "Sure! ", "好的\uff1a", "Verdict: pass\n", "```json\n", "Score: 10/10 ", "<answer>")


def malformed_answers(good: str, *, count: int, random: Random) -> Iterator[str]:
    """None of them is of the form that was asked for."""
    kinds: Sequence[Callable[[str, Random], str]] = (_cut, _mistyped, _renamed, _in_prose, _scrambled)
    for number in range(count):
        yield kinds[number % len(kinds)](good, random)


def _cut(good: str, random: Random) -> str:
    return good[: random.randrange(len(good) - 1)]


def _mistyped(good: str, random: Random) -> str:
    """One value anywhere replaced by one of another type, or out of vocabulary."""
    value = json.loads(good)
    holder, key = random.choice(list(_slots(value)))
    kept = type(holder[key])
    holder[key] = random.choice([wrong for wrong in _WRONG if type(wrong) is not kept])
    return json.dumps(value)


def _renamed(good: str, random: Random) -> str:
    value = json.loads(good)
    holder, key = random.choice([slot for slot in _slots(value) if isinstance(slot[0], dict)])
    holder[f"{key}_"] = holder.pop(key)
    return json.dumps(value)


def _in_prose(good: str, random: Random) -> str:
    return f"{random.choice(_PROSE)}{good}{random.choice(_PROSE)}"


def _scrambled(good: str, random: Random) -> str:
    """A structural character gone."""
    places = [i for i, char in enumerate(good) if char in '{}[]:"']
    place = random.choice(places)
    return good[:place] + good[place + 1 :]


def _slots(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from _slots(item)
