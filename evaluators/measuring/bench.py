"""What a judge's answers to labelled cases add up to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.judge.judge import Judge
from evaluators.measuring.asking import FENCE, Asked
from evaluators.measuring.attack_report import add_attacks, attacked
from evaluators.measuring.cases import Case, EvaluatorKind
from evaluators.measuring.judging_report import add_completeness, add_role, add_task
from evaluators.measuring.report import Report, add_usage
from evaluators.measuring.run import KINDS, Answered, Job, On, answered, jobs_of, results_of


@dataclass(frozen=True, slots=True)
class Bench:
    """What is measured."""

    cases: Sequence[Case]
    on: On = "conversation"
    kinds: Sequence[EvaluatorKind] = KINDS

    def questions(self, judge: Judge) -> Sequence[Job]:
        return jobs_of(self.cases, judge, on=self.on, kinds=self.kinds)


def report_of(asked: Asked[Job]) -> Report:
    report = Report()
    found = answered(asked.answers)
    results = results_of(found)
    add_task(report, results)
    add_role(report, results)
    add_completeness(report, results)
    add_attacks(report, attacked(results, FENCE))
    add_usage(report, found, calls=asked.calls, durations_s=asked.durations_s)
    return report


def answer_line(one: Answered) -> bytes:
    """One judgement as a line of results."""
    judgement = one.judgement
    line = {
        "case": one.case.id,
        "evaluator": one.kind,
        "unit": one.unit.kind.value,
        "turn": one.unit.turn_index,
        "outcome": judgement.outcome.value,
        "score": judgement.score,
        "reason": judgement.reason,
        "error_type": judgement.error_type,
        "evidence": [{"turn": item.turn, "step": item.step, "quote": item.quote} for item in judgement.evidence],
        "details": judgement.details,
    }
    return json.dumps(line).encode() + b"\n"
