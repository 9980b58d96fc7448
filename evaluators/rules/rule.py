"""What every declared rule is."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from collector.model import JsonValue
from evaluators.finding import Finding
from evaluators.rules.conditions import Condition, Reference, Resolve, at_path, holds
from evaluators.rules.tools import Tools
from evaluators.timeline import Call, Timeline

Within: TypeAlias = Literal["turn", "conversation"]


class Rule(Protocol):
    def __str__(self) -> str:
        """The rule in words, as a demand."""

    def check(self, timeline: Timeline) -> Finding: ...


def subjects(timeline: Timeline, tools: Tools, where: tuple[Condition, ...]) -> tuple[list[Call], list[str]]:
    """The judged calls that a rule is about, and why it may be about some more."""
    found: list[Call] = []
    unknown: list[str] = []
    for call in timeline.calls_of(tools.match):
        if not timeline.is_judged(call.turn):
            continue
        holding = matches(call, where, timeline)
        if holding:
            found.append(call)
        elif holding is None:
            unknown.append(f"Whether the rule is about {call.name} ({call.place}) cannot be known from the telemetry.")
    return found, unknown


def matches(call: Call, where: tuple[Condition, ...], timeline: Timeline) -> bool | None:
    return holds(where, call.arguments, resolve=resolver(timeline, before=call)) if where else True


def result_matches(call: Call, conditions: tuple[Condition, ...], timeline: Timeline) -> bool | None:
    if not conditions:
        return True
    value = None if call.result is None else call.result.value
    return holds(conditions, value, resolve=resolver(timeline, before=call))


def resolver(timeline: Timeline, *, before: Call) -> Resolve:
    """References mean the latest good result that was there before the call."""

    def resolve(reference: Reference) -> JsonValue:
        tools = Tools(reference.tools)
        for call in reversed(timeline.calls):
            result = call.result
            if result is None or result.order > before.order or call.failed or not tools.match(call.name):
                continue
            return next(at_path(result.value, reference.path), None)
        return None

    return resolve
