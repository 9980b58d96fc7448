"""Filters by what a conversation is: its resource, its length, and whether it is about what the evaluator is for.

    resource: {deployment.environment.name: prod*}
    messages: {gt: 1}            of user and agent, up to and with the unit
    user_messages: {gte: 2, lte: 50}
    applies: {matches: "(?i)refund|money back", in: user, at_least: 0.25}

All of them are looked at before any judge is asked, and cost nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, cast

from collector.model import MessageStep, Turn
from evaluators.assessable import judged_turns
from evaluators.errors import EvaluatorConfigError
from evaluators.options import collected
from evaluators.pattern import Pattern, PatternError
from evaluators.verdict import Unit

_OPERATORS: Mapping[str, Callable[[int, int], bool]] = {
    "lt": operator.lt,
    "lte": operator.le,
    "eq": operator.eq,
    "gte": operator.ge,
    "gt": operator.gt,
}
_PLACES = ("user", "agent", "any")
_MAX_CHARS = 100_000
"""Of one turn that a pattern is looked for in."""


@dataclass(frozen=True, slots=True)
class Count:
    """A condition on a number."""

    bounds: tuple[tuple[str, int], ...]

    def holds(self, number: int) -> bool:
        return all(_OPERATORS[name](number, bound) for name, bound in self.bounds)

    def __str__(self) -> str:
        return " and ".join(f"{name} {bound}" for name, bound in self.bounds)


@dataclass(frozen=True, slots=True)
class Applies:
    """Whether enough of the judged turns are about something that a pattern finds."""

    pattern: Pattern
    place: Literal["user", "agent", "any"] = "user"
    at_least: float | None = None
    """Share of the judged turns, above 0 to 1; None: one turn is enough."""

    def share(self, unit: Unit) -> float:
        turns = judged_turns(unit)
        found = sum(self.pattern.is_in(_said(turn, self.place)[:_MAX_CHARS]) for turn in turns)
        return found / len(turns) if turns else 0.0

    def holds(self, unit: Unit) -> bool:
        share = self.share(unit)
        return share > 0 if self.at_least is None else share >= self.at_least


@dataclass(frozen=True, slots=True)
class Filters:
    resource: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Attributes of the resource, each with globs of which one must fit."""
    messages: Count | None = None
    user_messages: Count | None = None
    applies: Applies | None = None

    def why_not(self, unit: Unit) -> tuple[str, str] | None:
        """A code and a sentence; None: ask."""
        conversation = unit.conversation
        for key, globs in self.resource:
            value = conversation.resource.get(key)
            if value is None or not any(fnmatchcase(value, glob) for glob in globs):
                return "resource", f"Its resource attribute {key} is none of {', '.join(globs)}."
        of_user, in_all = _counts(conversation.turns)
        for name, count, number in (
            ("messages", self.messages, in_all),
            ("user_messages", self.user_messages, of_user),
        ):
            if count is not None and not count.holds(number):
                return name, f"It has {number} {name.replace('_', ' ')}; asked for is {count}."
        if self.applies is not None and not self.applies.holds(unit):
            least = "any" if self.applies.at_least is None else f"{self.applies.at_least:g}"
            share = self.applies.share(unit)
            return "not_applicable", f"The evaluator does not apply: {share:.2f} of the turns match, and {least} must."
        return None


KEYS = ("resource", "messages", "user_messages", "applies")


def read_filters(kind: str, options: Mapping[str, object], problems: list[str]) -> Filters:
    """From the options of an evaluator; `problems` are added to."""
    found: dict[str, Any] = {}
    with collected(problems):
        found["resource"] = _resource(kind, options.get("resource", {}))
    with collected(problems):
        found["messages"] = _count(kind, "messages", options.get("messages"))
    with collected(problems):
        found["user_messages"] = _count(kind, "user_messages", options.get("user_messages"))
    with collected(problems):
        found["applies"] = _applies(kind, options.get("applies"))
    return Filters(**found)


def _resource(kind: str, value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    problem = f"{kind}.resource must be a mapping of resource attributes to globs, not {value!r}."
    if not isinstance(value, Mapping):
        raise EvaluatorConfigError(problem)
    found = []
    for key, globs in value.items():
        listed = (globs,) if isinstance(globs, str) else globs
        if (
            not isinstance(key, str)
            or not isinstance(listed, list | tuple)
            or not all(isinstance(g, str) for g in listed)
        ):
            raise EvaluatorConfigError(problem)
        found.append((key, tuple(listed)))
    return tuple(found)


def _count(kind: str, key: str, value: object) -> Count | None:
    if value is None:
        return None
    if (
        not isinstance(value, Mapping)
        or not value
        or not all(name in _OPERATORS and type(bound) is int and bound >= 0 for name, bound in value.items())
    ):
        raise EvaluatorConfigError(
            f"{kind}.{key} must be a mapping of lt, lte, eq, gte or gt to a number, such as {{gt: 1}}, not {value!r}."
        )
    return Count(tuple((str(name), cast("int", bound)) for name, bound in value.items()))  # Checked above.


def _applies(kind: str, value: object) -> Applies | None:
    if value is None:
        return None
    problem = f"{kind}.applies must be a mapping such as {{matches: PATTERN, in: user, at_least: 0.5}}, not {value!r}."
    if not isinstance(value, Mapping) or not {"matches"} <= set(value) <= {"matches", "in", "at_least"}:
        raise EvaluatorConfigError(problem)
    pattern, place, least = value["matches"], value.get("in", "user"), value.get("at_least")
    is_share = isinstance(least, int | float) and not isinstance(least, bool) and 0 < least <= 1
    if not isinstance(pattern, str) or place not in _PLACES or not (least is None or is_share):
        raise EvaluatorConfigError(problem)
    try:
        compiled = Pattern(pattern)
    except PatternError as err:
        raise EvaluatorConfigError(f"{kind}.applies.matches is no regular expression: {err}.") from err
    return Applies(compiled, place, None if least is None else float(least))


def _counts(turns: tuple[Turn, ...]) -> tuple[int, int]:
    """Messages of the user, and all."""
    of_user = sum(bool((turn.user_input or "").strip()) for turn in turns)
    of_agent = sum(
        bool((turn.output or "").strip()) + sum(isinstance(step, MessageStep) for step in turn.steps) for turn in turns
    )
    return of_user, of_user + of_agent


def _said(turn: Turn, place: str) -> str:
    texts = []
    if place in ("user", "any"):
        texts.append(turn.user_input or "")
    if place in ("agent", "any"):
        texts += [step.text for step in turn.steps if isinstance(step, MessageStep)] + [turn.output or ""]
    return "\n".join(texts)
