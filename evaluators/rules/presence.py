"""Presence and absence: a call that must be made, and one that must not."""

from __future__ import annotations

from dataclasses import dataclass

from collector.model import GapKind, Turn, TurnStatus
from evaluators.finding import Breach, Finding, concluded
from evaluators.rules.conditions import Condition, words
from evaluators.rules.order import Required
from evaluators.rules.rule import Within, result_matches, subjects
from evaluators.rules.tools import Tools
from evaluators.timeline import Call, Result, Timeline
from evaluators.verdict import Evidence, UnitKind

_MAX_QUOTE_CHARS = 200
_UNSEEN = frozenset({GapKind.HISTORY_UNSEEN, GapKind.HISTORY_COMPACTED})


@dataclass(frozen=True, slots=True)
class Never:
    tools: Tools
    where: tuple[Condition, ...] = ()
    result: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        text = f"{self.tools} is never called"
        if self.where:
            text += f" where {words(self.where)}"
        if self.result:
            text += f" with a result where {words(self.result)}"
        return text

    def check(self, timeline: Timeline) -> Finding:
        found, unknown = subjects(timeline, self.tools, self.where)
        breaches: list[Breach] = []
        for call in found:
            holding = result_matches(call, self.result, timeline)
            if holding:
                breaches.append(self._breach(call))
            elif holding is None:
                unknown.append(f"The result of {call.name} ({call.place}) is not in the telemetry.")
        return concluded(breaches=breaches, seen=1, unknown=unknown)

    def _breach(self, call: Call) -> Breach:
        conditions = [words(part) for part in (self.where, self.result) if part]
        suffix = f" where {' and '.join(conditions)}" if conditions else ""
        evidence: list[Call | Result] = [call]
        if self.result and call.result is not None:
            evidence.append(call.result)
        return Breach(f"{call.name} ({call.place}) was called{suffix}, which is never allowed.", tuple(evidence))


@dataclass(frozen=True, slots=True)
class Presence:
    """In each turn, or at some time in the conversation: then it is judged on whole conversations only."""

    required: Required
    within: Within = "conversation"

    def __str__(self) -> str:
        return f"{self.required} is called {'in each turn' if self.within == 'turn' else 'in the conversation'}"

    def check(self, timeline: Timeline) -> Finding:
        if self.within == "conversation" and timeline.unit.kind is UnitKind.TURN:
            return concluded(breaches=[], seen=0, unknown=[])
        breaches: list[Breach] = []
        unknown: list[str] = []
        spans = [(turn,) for turn in timeline.judged_turns] if self.within == "turn" else [timeline.turns]
        for turns in spans:
            calls = [call for call in timeline.calls if call.turn in turns]
            answers = [self.required.is_met_by(call, timeline, subject=call) for call in calls]
            if True in answers:
                continue
            where = f"turn {turns[0].index}" if self.within == "turn" else "the conversation"
            if None in answers or turns[-1].status is TurnStatus.INCOMPLETE or _UNSEEN.intersection(_gaps(turns)):
                unknown.append(f"Not every step of {where} is in the telemetry.")
            else:
                breaches.append(Breach(f"{self.required} was not called in {where}.", _end_of(turns[-1])))
        return concluded(breaches=breaches, seen=len(spans), unknown=unknown)


def _gaps(turns: tuple[Turn, ...]) -> set[GapKind]:
    return {gap for turn in turns for gap in turn.gaps}


def _end_of(turn: Turn) -> tuple[Evidence, ...]:
    """What was said instead."""
    text = turn.output or turn.user_input
    return (Evidence(turn.index, None, text[:_MAX_QUOTE_CHARS], turn.span_id),) if text else ()
