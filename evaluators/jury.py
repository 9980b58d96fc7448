"""Several answers to one question where one is not to be trusted alone: the majority's, with the disagreement told.

The first judgement stands by itself unless it is uncertain: an abstention, a score near its threshold, or a fail of an
all-or-nothing question. Then the jurors are asked, all at once, and each judges the unit in full. Who gives no verdict
has no vote. Votes that are even are no verdict either, but an abstention.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from evaluators.evaluator import Evaluator, Judgement
from evaluators.judge.config import JuryConfig
from evaluators.scale import scale_of
from evaluators.verdict import JudgeInfo, Outcome, Unit, UnitKind

_VERDICTS = frozenset({Outcome.PASS, Outcome.FAIL, Outcome.ABSTAIN})


class JuryEvaluator:
    """An evaluator and the same one with each juror for its judge."""

    def __init__(self, first: Evaluator, jurors: Sequence[Evaluator], *, config: JuryConfig) -> None:
        self._first = first
        self._jurors = tuple(jurors)
        self._config = config
        self.threshold = scale_of(first).threshold
        self.name = first.name
        self.version = f"{first.version}+jury1"
        self.rubric_version = first.rubric_version
        models = Counter(juror.judge_name for juror in (first, *jurors))
        names = [model if times == 1 else f"{model}*{times}" for model, times in models.items()]
        self.judge_name = f"jury({', '.join(names)})"

    @property
    def unit_kind(self) -> UnitKind:
        return self._first.unit_kind

    async def evaluate(self, unit: Unit) -> Judgement:
        first = await self._first.evaluate(unit)
        if first.outcome not in _VERDICTS or not (self._config.when == "always" or self._is_uncertain(first)):
            return replace(first, judge=replace(first.judge, name=self.judge_name))
        others = await asyncio.gather(*(juror.evaluate(unit) for juror in self._jurors))
        return _verdict([first, *others], name=self.judge_name)

    def _is_uncertain(self, judgement: Judgement) -> bool:
        if judgement.score is None:
            return True
        if self.threshold is None or self.threshold >= 1:
            return judgement.outcome is Outcome.FAIL
        return abs(judgement.score - self.threshold) <= self._config.band


def _verdict(judgements: Sequence[Judgement], *, name: str) -> Judgement:
    voting = [judgement for judgement in judgements if judgement.outcome in _VERDICTS]
    votes = Counter(judgement.outcome for judgement in voting)
    (outcome, most), *others = votes.most_common()
    is_even = bool(others) and others[0][1] == most
    agreeing = [judgement for judgement in voting if judgement.outcome is outcome]
    members = [
        {"judge": judgement.judge.name, "outcome": judgement.outcome.value, "score": judgement.score}
        for judgement in judgements
    ]
    details = {
        **agreeing[0].details,
        "agreement": round(most / len(voting), 4),
        "jury": {"votes": {kind.value: count for kind, count in votes.items()}, "members": members},
    }
    judge = _summed([judgement.judge for judgement in judgements], name=name)
    if is_even:
        told = ", ".join(f"{count} {kind.value}" for kind, count in votes.items())
        reason = f"The jury is divided ({told}). {agreeing[0].reason}"
        return Judgement(Outcome.ABSTAIN, reason=reason, details=details, judge=judge)
    scores = [judgement.score for judgement in agreeing if judgement.score is not None]
    score = sum(scores) / len(scores) if scores else None
    return replace(agreeing[0], score=score, details=details, judge=judge)


def _summed(infos: Sequence[JudgeInfo], *, name: str) -> JudgeInfo:
    """What all of them took; the jurors were asked at the same time."""
    reasoning = [info.reasoning_tokens for info in infos if info.reasoning_tokens is not None]
    costs = [info.cost_usd for info in infos]
    return JudgeInfo(
        name=name,
        calls=sum(info.calls for info in infos),
        cached_calls=sum(info.cached_calls for info in infos),
        input_tokens=sum(info.input_tokens for info in infos),
        cached_input_tokens=sum(info.cached_input_tokens for info in infos),
        output_tokens=sum(info.output_tokens for info in infos),
        cost_usd=None if any(cost is None for cost in costs) else sum(cost for cost in costs if cost is not None),
        duration_s=infos[0].duration_s + max((info.duration_s for info in infos[1:]), default=0.0),
        reasoning_tokens=sum(reasoning) if reasoning else None,
        tokens_estimated=any(info.tokens_estimated for info in infos),
        finish_reason=infos[0].finish_reason,
    )
