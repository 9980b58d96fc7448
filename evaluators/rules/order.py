"""Order: a call needs another one before it, or after it.

What must come before counts when it did not fail, its result was there before the call, and says what it must. A call
whose result nobody sent counts as made; what its result says is then unknown, which is never a failure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collector.model import GapKind, JsonValue, TurnStatus
from evaluators.finding import Breach, Finding, concluded
from evaluators.rules.conditions import Condition, at_path, equal, words
from evaluators.rules.rule import Within, matches, result_matches, subjects
from evaluators.rules.tools import Tools
from evaluators.squeezing import folded
from evaluators.timeline import Call, Result, Timeline
from evaluators.transcript.values import value_text

_UNSEEN = frozenset({GapKind.HISTORY_UNSEEN, GapKind.HISTORY_COMPACTED})
"""Earlier steps may be missing from the telemetry, so their absence proves nothing."""


_JOINTS = dict.fromkeys(map(ord, " -_\u2010\u2011\u2013"))


@dataclass(frozen=True, slots=True)
class Required:
    """The call that must be there as well."""

    tools: Tools
    where: tuple[Condition, ...] = ()
    result: tuple[Condition, ...] = ()
    same: tuple[str, ...] = ()
    """Arguments that must have the same value in both calls."""

    def __str__(self) -> str:
        text = str(self.tools)
        if self.where:
            text += f" where {words(self.where)}"
        if self.result:
            text += f" with a result where {words(self.result)}"
        if self.same:
            text += f" with the same {' and '.join(self.same)}"
        return text

    def is_met_by(self, call: Call, timeline: Timeline, *, subject: Call) -> bool | None:
        if not self.tools.match(call.name) or call.failed:
            return False
        answers = [
            matches(call, self.where, timeline),
            result_matches(call, self.result, timeline),
            _same(call, subject, self.same),
        ]
        if False in answers:
            return False
        return None if None in answers else True


def _same(call: Call, subject: Call, names: tuple[str, ...]) -> bool | None:
    for name in names:
        left, right = next(at_path(call.arguments, name), None), next(at_path(subject.arguments, name), None)
        if left is None or right is None:
            return None if call.step.arguments is None or subject.step.arguments is None else False
        if not (equal(left, right) or _plain(left) == _plain(right)):
            return False
    return True


def _plain(value: JsonValue) -> str:
    """Models write the same identifier in other cases and with other hyphens. Points and commas may tell numbers."""
    return folded(value_text(value)).translate(_JOINTS)


@dataclass(frozen=True, slots=True)
class Before:
    tools: Tools
    required: Required
    where: tuple[Condition, ...] = ()
    within: Within = "conversation"

    def __str__(self) -> str:
        condition = f" where {words(self.where)}" if self.where else ""
        return f"{self.tools}{condition} needs {self.required} before it{_within(self.within)}"

    def check(self, timeline: Timeline) -> Finding:
        found, unknown = subjects(timeline, self.tools, self.where)
        breaches: list[Breach] = []
        for call in found:
            met = self._is_met(timeline, call)
            if met:
                continue
            if met is None:
                unknown.append(
                    f"Whether {self.required} came before {call.name} ({call.place}) is not in the telemetry."
                )
            elif self._may_be_unseen(timeline, call):
                unknown.append(f"Steps before {call.name} ({call.place}) are not in the telemetry.")
            else:
                breaches.append(self._breach(timeline, call))
        return concluded(breaches=breaches, seen=len(found), unknown=unknown)

    def _is_met(self, timeline: Timeline, call: Call) -> bool | None:
        unknown = False
        for candidate in self._earlier(timeline, call):
            met = self.required.is_met_by(candidate, timeline, subject=call)
            if met:
                return True
            unknown = unknown or met is None
        return None if unknown else False

    def _earlier(self, timeline: Timeline, subject: Call) -> Iterator[Call]:
        """Calls of the required tools that were answered, or at least not known to be unanswered, when the subject was
        made; the latest first, since it is most often the one.
        """
        for position in range(subject.position - 1, -1, -1):
            call = timeline.calls[position]
            if self.within == "turn" and call.turn is not subject.turn:
                return
            if not self.required.tools.match(call.name):
                continue
            if call.result is not None and call.result.order > subject.order:
                continue
            if call.turn is subject.turn and call.step.group is not None and call.step.group == subject.step.group:
                continue
            yield call

    def _may_be_unseen(self, timeline: Timeline, subject: Call) -> bool:
        if self.within == "turn":
            return bool(_UNSEEN.intersection(subject.turn.gaps))
        return any(turn.index <= subject.turn.index and _UNSEEN.intersection(turn.gaps) for turn in timeline.turns)

    def _breach(self, timeline: Timeline, call: Call) -> Breach:
        last = next(self._earlier(timeline, call), None)
        reason = f"{call.name} ({call.place}) was called without {self.required} before it"
        evidence: list[Call | Result] = [call]
        if last is not None:
            outcome = "failed" if last.failed else "does not meet that"
            reason += f"; the {last.name} before it ({last.place}) {outcome}"
            evidence.append(last if last.result is None else last.result)
        return Breach(f"{reason}.", tuple(evidence))


@dataclass(frozen=True, slots=True)
class After:
    tools: Tools
    required: Required
    where: tuple[Condition, ...] = ()
    within: Within = "turn"

    def __str__(self) -> str:
        condition = f" where {words(self.where)}" if self.where else ""
        return f"{self.tools}{condition} needs {self.required} after it{_within(self.within)}"

    def check(self, timeline: Timeline) -> Finding:
        found, unknown = subjects(timeline, self.tools, self.where)
        candidates = timeline.calls_of(self.required.tools.match) if found else []
        breaches: list[Breach] = []
        for call in found:
            if call.failed:
                continue
            answers = [
                self.required.is_met_by(candidate, timeline, subject=call)
                for candidate in candidates
                if candidate.position > call.position and (self.within == "conversation" or candidate.turn is call.turn)
            ]
            if True in answers:
                continue
            end = call.turn if self.within == "turn" else timeline.turns[-1]
            if None in answers or end.status is TurnStatus.INCOMPLETE:
                unknown.append(f"What came after {call.name} ({call.place}) is not fully in the telemetry.")
            elif self.within == "conversation" and timeline.unit.kind.value == "turn":
                unknown.append(
                    f"What comes after {call.name} ({call.place}) is only known when the conversation has ended."
                )
            else:
                reason = f"{call.name} ({call.place}) was not followed by {self.required}."
                breaches.append(Breach(reason, (call,)))
        return concluded(breaches=breaches, seen=len(found), unknown=unknown)


def _within(within: Within) -> str:
    return " in the same turn" if within == "turn" else ""
