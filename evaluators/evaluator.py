"""What an evaluator is: something with a name and versions that answers a unit with a judgement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from evaluators.verdict import Evidence, JudgeInfo, Outcome, Unit, UnitKind


@dataclass(frozen=True, slots=True)
class Judgement:
    """An evaluator's answer, before it is bound to ids and versions and becomes a verdict."""

    outcome: Outcome
    score: float | None = None
    label: str | None = None
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    error_type: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)
    judge: JudgeInfo = field(default_factory=lambda: JudgeInfo(name="builtin"))
    retryable: bool = False
    """For outcome `error`: the judge may answer later (down, overloaded, out of budget)."""


class Evaluator(Protocol):
    @property
    def name(self) -> str:
        """The name in configuration, on spans and in metrics, such as `task_adherence`."""

    @property
    def version(self) -> str:
        """Changes when the evaluator's own logic changes what it would answer."""

    @property
    def rubric_version(self) -> str:
        """Short hash of the rubric or rules in force."""

    @property
    def judge_name(self) -> str:
        """The judge model, or `builtin`."""

    @property
    def unit_kind(self) -> UnitKind: ...

    async def evaluate(self, unit: Unit) -> Judgement:
        """Never raises for what a judge or a conversation may do: failure is an outcome."""
