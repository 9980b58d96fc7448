"""Measures a judge on labelled cases: asked now and kept, or in the two steps of a batch."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from collector.clock import Clock
from evaluators.errors import EvaluatorConfigError
from evaluators.judge.caller import Endpoint
from evaluators.judge.config import JudgeConfig
from evaluators.judge.judge import Judge
from evaluators.measuring.answers import AnswerFile, read_answers, read_kept
from evaluators.measuring.attack_report import add_attacks, attacked
from evaluators.measuring.cases import Case, EvaluatorKind
from evaluators.measuring.endpoints import BatchEndpoint, KeepingEndpoint
from evaluators.measuring.judging_report import add_completeness, add_role, add_task
from evaluators.measuring.report import Report, add_usage
from evaluators.measuring.run import KINDS, Answered, Job, On, jobs_of, results_of, run
from evaluators.transcript.fence import Fence

FENCE = Fence(b"adhere bench: the same in every run")
"""Requests must be the same in the run that exports them and the one that reads the answers. The mark still depends on
the case's whole content, so that no text in a case can hold it."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What is measured."""

    cases: Sequence[Case]
    on: On = "conversation"
    kinds: Sequence[EvaluatorKind] = KINDS


@dataclass(frozen=True, slots=True)
class Measured:
    answered: Sequence[Answered]
    durations_s: Sequence[float]
    wanted: Sequence[Mapping[str, Any]] = ()
    """Requests that have no answer, as lines of a batch input."""
    notes: Sequence[str] = field(default_factory=list)

    def report(self) -> Report:
        report = Report()
        results = results_of(self.answered)
        add_task(report, results)
        add_role(report, results)
        add_completeness(report, results)
        add_attacks(report, attacked(results, FENCE))
        add_usage(report, self.answered, self.durations_s)
        return report


async def measure_live(
    bench: Bench,
    config: JudgeConfig,
    *,
    endpoint: Endpoint,
    keep: Path,
    clock: Clock,
    random: Random,
    progress: Callable[[int], Callable[[], None]],
) -> Measured:
    """Owns `endpoint`. What `keep` holds is not asked again. `progress` gets the number of judgements to come."""
    answers = read_kept(keep, model=config.model)
    log = AnswerFile(keep, model=config.model)
    keeping = KeepingEndpoint(endpoint, answers, log, clock=clock)
    judge = Judge(config, endpoint=keeping, fence=FENCE, clock=clock, random=random)
    try:
        answered = await _run(jobs_of(bench.cases, judge, on=bench.on, kinds=bench.kinds), progress)
    finally:
        await judge.shutdown()
        log.close()
    return Measured(answered, keeping.durations_s, notes=[f"{keeping.reused} answers came from {keep}."])


async def measure_batch(
    bench: Bench,
    config: JudgeConfig,
    *,
    answer_files: Sequence[Path],
    clock: Clock,
    random: Random,
    progress: Callable[[int], Callable[[], None]],
) -> Measured:
    """Nobody is asked: answers come from the files, and what they lack is in `wanted`."""
    answers = read_answers(answer_files)
    endpoint = BatchEndpoint(config, answers)
    judge = Judge(config, endpoint=endpoint, fence=FENCE, clock=clock, random=random)
    answered = await _run(jobs_of(bench.cases, judge, on=bench.on, kinds=bench.kinds), progress)
    await judge.shutdown()
    notes: list[str] = []
    if answer_files:
        notes.append(
            f"{len(endpoint.used)} answers were used; {endpoint.missing} requests have none, {endpoint.failed} failed, "
            f"{endpoint.repairs_wanted} answers could not be used and want a repair."
        )
        notes += [f"{number} failed with {reason}." for reason, number in answers.failures.items()]
    if answers.unreadable_lines:
        notes.append(f"{answers.unreadable_lines} lines are no answers and were left out.")
    if endpoint.strangers:
        notes.append(
            f"{endpoint.strangers} answers belong to no request made now: other cases, or another version, wrote them."
        )
    return Measured(answered, endpoint.durations_s, endpoint.wanted, notes)


async def _run(jobs: Sequence[Job], progress: Callable[[int], Callable[[], None]]) -> list[Answered]:
    if not jobs:
        raise EvaluatorConfigError("No case is about the chosen evaluators.")
    return await run(jobs, on_done=progress(len(jobs)))


def batch_lines(wanted: Sequence[Mapping[str, Any]]) -> bytes:
    """Lone surrogates cannot be in UTF-8; escaped, they pass as they do on the wire."""
    return b"".join(json.dumps(request).encode() + b"\n" for request in wanted)


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
