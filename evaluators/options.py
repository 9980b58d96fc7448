"""Reads one mapping of configuration: typed, bounded, strict about names, and every problem with its place.

A reader collects problems and goes on, so that one start reports all of them; what it gives where there is one is of
the right type and otherwise of no use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from evaluators.errors import EvaluatorConfigError
from evaluators.nearest import did_you_mean, nearest

_MAX_SHOWN_CHARS = 80


class OptionReader:
    """Each method takes one option. `place` is the mapping's own, such as `task_adherence` or `rules[2]`."""

    def __init__(self, place: str, options: Mapping[str, object], problems: list[str] | None = None) -> None:
        """`problems` are added to; without it `finish` raises them."""
        self._place = place
        self._options = options
        self._problems = [] if problems is None else problems
        self._known: list[str] = []

    def problem(self, key: str, value: object, wanted: str) -> None:
        self._problems.append(f"{self._place}.{key} is {shown(value)} and must be {wanted}.")

    def text(self, key: str) -> str | None:
        value = self._take(key, None)
        if value is None:
            return None
        if isinstance(value, str) and value.strip():
            return value.strip()
        self.problem(key, value, "a text that is not empty")
        return None

    def texts(
        self, key: str, *, wanted: str = "a text or a list of texts", default: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """One text, or several. Without a default there must be one at least."""
        value = self._take(key, default)
        items = (value,) if isinstance(value, str) else value
        enough = bool(items) or (default is not None and not default)
        if enough and isinstance(items, list | tuple) and all(isinstance(item, str) and item.strip() for item in items):
            return tuple(item.strip() for item in items)
        self.problem(key, value, wanted)
        return ()

    def count(self, key: str, default: int | None = None, *, low: int, high: int | None = None) -> int:
        value = self._take(key, default)
        if isinstance(value, int) and not isinstance(value, bool) and low <= value and (high is None or value <= high):
            return value
        self.problem(key, value, f"a whole number {f'of at least {low}' if high is None else f'from {low} to {high}'}")
        return low

    def number(self, key: str, default: float, *, low: float, high: float) -> float:
        value = self._take(key, default)
        if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
            return float(value)
        self.problem(key, value, f"a number from {low:g} to {high:g}")
        return default

    def optional_number(self, key: str, *, low: float, high: float) -> float | None:
        return None if self._take(key, None) is None else self.number(key, low, low=low, high=high)

    def flag(self, key: str, *, default: bool) -> bool:
        value = self._take(key, default)
        if isinstance(value, bool):
            return value
        self.problem(key, value, "true or false")
        return default

    def choice(self, key: str, default: str, *, of: Sequence[str]) -> str:
        value = self._take(key, default)
        if isinstance(value, str) and value in of:
            return value
        self._not_among(key, value, f"one of {', '.join(of)}", of)
        return default

    def choices(self, key: str, default: Sequence[str], *, of: Sequence[str], prefix: str) -> tuple[str, ...]:
        """Several of `of`, or of names behind a prefix."""
        found = self.texts(key, wanted=f"a list of {', '.join(of)} or {prefix}NAME", default=default)
        for value in found:
            if value not in of and not value.startswith(prefix):
                self._not_among(key, value, f"one of {', '.join(of)} or {prefix}NAME", of)
        return found

    def leave(self, keys: Iterable[str]) -> None:
        """Options that someone else reads."""
        self._known += keys

    def only(self, known: Iterable[str]) -> None:
        """Complain about every other key."""
        known = list(known)
        self._problems += [
            f"{self._place}.{key} is not a known key; {did_you_mean(key, known)}"
            for key in self._options
            if key not in known
        ]

    def finish(self) -> None:
        """Complain about what nobody took; raises `EvaluatorConfigError` that holds every problem."""
        self.only(sorted(self._known))
        if self._problems:
            raise EvaluatorConfigError("\n".join(self._problems))

    def _take(self, key: str, default: object) -> object:
        if key not in self._known:
            self._known.append(key)
        return self._options.get(key, default)

    def _not_among(self, key: str, value: object, wanted: str, of: Iterable[str]) -> None:
        near = nearest(value, of)
        hint = "." if near is None else f"; did you mean {near!r}?"
        self._problems.append(f"{self._place}.{key} is {shown(value)} and must be {wanted}{hint}")


@contextmanager
def collected(problems: list[str]) -> Iterator[None]:
    """Note what is wrong, and go on with what else there is to read."""
    try:
        yield
    except EvaluatorConfigError as err:
        problems.append(str(err))


def shown(value: object) -> str:
    text = repr(value)
    return "not given" if value is None else text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}..."
