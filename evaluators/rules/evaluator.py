"""The evaluator `rules`: declared rules and built-in checks, each with its own status, together one pass or fail.

It fails when any of them is broken, and cannot assess when none of them could be; what is flagged is told and fails
nothing. For a turn the whole conversation up to it is read, and only what happens in the turn counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.checks.check import Check
from evaluators.content import digest_of
from evaluators.evaluator import Judgement
from evaluators.facts import Fact, is_large
from evaluators.finding import Finding, Status
from evaluators.rules.declared import DeclaredRule
from evaluators.timeline import timeline_of
from evaluators.verdict import Outcome, Unit, UnitKind

VERSION = "1"
_MAX_EVIDENCE = 10


@dataclass(frozen=True, slots=True)
class _Entry:
    kind: str
    """`rule` or `check`."""
    name: str
    demand: str
    finding: Finding
    message: str | None = None

    @property
    def sentence(self) -> str:
        return f"{self.message} {self.words}" if self.message else self.words

    @property
    def words(self) -> str:
        return f"{self.kind.capitalize()} {self.name} ({self.demand}) is broken: {self.finding.reason}"

    def details(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "name": self.name,
            "demand": self.demand,
            "status": self.finding.status.value,
            "reason": self.finding.reason,
            "count": self.finding.count,
            "evidence": [{"turn": piece.turn, "step": piece.step} for piece in self.finding.evidence],
        }


class RulesEvaluator:
    version = VERSION
    judge_name = "builtin"
    threshold = 1.0

    def __init__(
        self, rules: Sequence[DeclaredRule], checks: Sequence[Check], *, name: str = "rules", unit_kind: UnitKind
    ) -> None:
        self.name = name
        self.unit_kind = unit_kind
        self._rules = tuple((rule, str(rule.rule)) for rule in rules)
        self._checks = tuple(checks)
        self.rubric_version = digest_of(
            [
                [[rule.name, demand, rule.message, rule.source] for rule, demand in self._rules],
                [check.name for check in checks],
            ]
        )[:12]

    async def evaluate(self, unit: Unit) -> Judgement:
        if is_large(unit):
            return await asyncio.to_thread(self.judge, unit)
        return self.judge(unit)

    def judge(self, unit: Unit) -> Judgement:
        return _judgement(self._entries(unit))

    def facts(self, unit: Unit) -> list[Fact]:
        """What is broken, in words for a judge."""
        broken = [entry for entry in self._entries(unit) if entry.finding.status is Status.FAIL]
        return [
            Fact(max((piece.turn for piece in entry.finding.evidence), default=unit.turn.index), entry.words)
            for entry in broken
        ]

    def _entries(self, unit: Unit) -> list[_Entry]:
        timeline = timeline_of(unit)
        entries = [
            _Entry("rule", rule.name, demand, rule.rule.check(timeline), rule.message) for rule, demand in self._rules
        ]
        entries += [_Entry("check", check.name, check.demand, check.check(timeline)) for check in self._checks]
        return entries


def _judgement(entries: Sequence[_Entry]) -> Judgement:
    details: dict[str, object] = {"rules": [entry.details() for entry in entries]}
    broken = [entry for entry in entries if entry.finding.status is Status.FAIL]
    if broken:
        evidence = dict.fromkeys(piece for entry in broken for piece in entry.finding.evidence)
        return Judgement(
            outcome=Outcome.FAIL,
            score=0.0,
            label="fail",
            reason=" ".join(entry.sentence for entry in broken),
            evidence=tuple(evidence)[:_MAX_EVIDENCE],
            details=details,
        )
    unknown = [entry for entry in entries if entry.finding.status is Status.NOT_ASSESSABLE]
    if not entries or len(unknown) == len(entries):
        reason = unknown[0].finding.reason if unknown else "No rules are declared and no checks are on."
        kind = "telemetry_incomplete" if unknown else "no_rules"
        return Judgement(outcome=Outcome.NOT_ASSESSABLE, error_type=kind, reason=reason, details=details)
    return Judgement(outcome=Outcome.PASS, score=1.0, label="pass", reason=_passed(entries, unknown), details=details)


def _passed(entries: Sequence[_Entry], unknown: Sequence[_Entry]) -> str:
    checked = sum(entry.finding.status is Status.PASS for entry in entries)
    text = f"None of {len(entries)} rules and checks is broken; {checked} applied."
    told = [f"{entry.name}: {entry.finding.reason}" for entry in entries if entry.finding.status is Status.FLAGGED]
    if told:
        text += f" Flagged: {' '.join(told)}"
    if unknown:
        names = ", ".join(entry.name for entry in unknown)
        text += f" Not assessable from the telemetry: {names}."
    return text
