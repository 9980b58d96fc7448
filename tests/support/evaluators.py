"""Evaluators for tests: they answer as scripted, and remember what they were asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from evaluators.evaluator import Judgement
from evaluators.verdict import JudgeInfo, Outcome, Unit, UnitKind

Script = Callable[[Unit, int], Judgement]
"""From the unit and how often it was asked before to the answer; may raise."""


def passing(unit: Unit, asked_before: int) -> Judgement:
    return Judgement(outcome=Outcome.PASS, score=1.0, label="pass", judge=JudgeInfo(name="judge-1"))


def refusing(unit: Unit, asked_before: int) -> Judgement:
    """As a judge that is down."""
    return Judgement(outcome=Outcome.ERROR, error_type="connection", reason="No connection.", retryable=True)


def raising(unit: Unit, asked_before: int) -> Judgement:
    raise RuntimeError("no answer")


class ScriptedEvaluator:
    """With `hold`, answers only after `release`."""

    def __init__(
        self,
        script: Script = passing,
        *,
        name: str = "scripted",
        version: str = "1",
        rubric_version: str = "r1",
        judge_name: str = "judge-1",
        unit_kind: UnitKind = UnitKind.TURN,
        hold: bool = False,
    ) -> None:
        self.name = name
        self.version = version
        self.rubric_version = rubric_version
        self.judge_name = judge_name
        self.unit_kind = unit_kind
        self.asked: list[Unit] = []
        self.script = script
        self.most_at_once = 0
        self._at_once = 0
        self._released = asyncio.Event()
        if not hold:
            self._released.set()

    def release(self) -> None:
        self._released.set()

    def hold(self) -> None:
        """Answer no more until the next `release`."""
        self._released.clear()

    async def evaluate(self, unit: Unit) -> Judgement:
        before = sum(asked.key == unit.key for asked in self.asked)
        self.asked.append(unit)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await self._released.wait()
            return self.script(unit, before)
        finally:
            self._at_once -= 1
