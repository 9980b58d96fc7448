"""Counts: at most, or at least, so many calls; and the same call not over and over."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from collector.model import TurnStatus
from evaluators.content import digest_of
from evaluators.finding import Breach, Finding, concluded
from evaluators.rules.conditions import Condition, words
from evaluators.rules.rule import Within, matches
from evaluators.rules.tools import Tools
from evaluators.timeline import Call, Timeline
from evaluators.verdict import UnitKind


@dataclass(frozen=True, slots=True)
class MaxCalls:
    limit: int
    tools: Tools
    where: tuple[Condition, ...] = ()
    within: Within = "conversation"

    def __str__(self) -> str:
        return f"{_what(self.tools, self.where)} at most {_times(self.limit)} in one {self.within}"

    def check(self, timeline: Timeline) -> Finding:
        groups, unknown = _counted(timeline, self.tools, self.where, self.within)
        breaches = [
            Breach(
                f"{call.name} ({call.place}) is call {number} of {self.tools} in this {self.within}; "
                f"at most {self.limit} {'is' if self.limit == 1 else 'are'} allowed.",
                (call,),
            )
            for calls in groups.values()
            for number, call in enumerate(calls, start=1)
            if number > self.limit and timeline.is_judged(call.turn)
        ]
        return concluded(breaches=breaches, seen=1, unknown=unknown)


@dataclass(frozen=True, slots=True)
class MinCalls:
    limit: int
    tools: Tools
    where: tuple[Condition, ...] = ()
    within: Within = "conversation"

    def __str__(self) -> str:
        return f"{_what(self.tools, self.where)} at least {_times(self.limit)} in one {self.within}"

    def check(self, timeline: Timeline) -> Finding:
        if self.within == "conversation" and timeline.unit.kind is UnitKind.TURN:
            return concluded(breaches=[], seen=0, unknown=[])
        groups, unknown = _counted(timeline, self.tools, self.where, self.within)
        breaches: list[Breach] = []
        keys = [turn.index for turn in timeline.judged_turns] if self.within == "turn" else [-1]
        for key in keys:
            calls = groups.get(key, [])
            if len(calls) >= self.limit:
                continue
            end = timeline.turns[-1] if key == -1 else next(turn for turn in timeline.turns if turn.index == key)
            if end.status is TurnStatus.INCOMPLETE:
                unknown.append(f"The end of turn {end.index} is not in the telemetry.")
                continue
            where = "the conversation" if key == -1 else f"turn {key}"
            reason = f"{self.tools} was called {_times(len(calls))} in {where}; at least {self.limit} are required."
            breaches.append(Breach(reason, tuple(calls)))
        return concluded(breaches=breaches, seen=1, unknown=unknown)


@dataclass(frozen=True, slots=True)
class MaxRepeats:
    """Loops: identical calls, same tool and same arguments."""

    limit: int
    tools: Tools
    within: Within = "turn"

    def __str__(self) -> str:
        return (
            f"the same call of {self.tools} with the same arguments at most {_times(self.limit)} in one {self.within}"
        )

    def check(self, timeline: Timeline) -> Finding:
        groups, _ = _counted(timeline, self.tools, (), self.within)
        breaches: list[Breach] = []
        for calls in groups.values():
            seen: dict[str, list[Call]] = defaultdict(list)
            for call in calls:
                if call.step.arguments is None:
                    continue  # Not known to be the same.
                same = seen[digest_of([call.name, call.arguments])]
                same.append(call)
                if len(same) > self.limit and timeline.is_judged(call.turn):
                    reason = (
                        f"{call.name} ({call.place}) was called with the same arguments for the "
                        f"{len(same)}th time in this {self.within}; at most {self.limit} times are allowed."
                    )
                    breaches.append(Breach(reason, (same[0], call)))
        return concluded(breaches=breaches, seen=1, unknown=[])


def _counted(
    timeline: Timeline, tools: Tools, where: tuple[Condition, ...], within: Within
) -> tuple[dict[int, list[Call]], list[str]]:
    """Calls by turn index, or all under -1."""
    groups: dict[int, list[Call]] = defaultdict(list)
    unknown: list[str] = []
    for call in timeline.calls_of(tools.match):
        holding = matches(call, where, timeline)
        if holding:
            groups[call.turn.index if within == "turn" else -1].append(call)
        elif holding is None:
            unknown.append(f"The arguments of {call.name} ({call.place}) are not in the telemetry.")
    return groups, unknown


def _what(tools: Tools, where: tuple[Condition, ...]) -> str:
    return f"{tools} is called" + (f" where {words(where)}" if where else "")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
