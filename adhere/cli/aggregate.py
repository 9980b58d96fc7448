"""What the verdicts of a batch come to, for each evaluator: for the table, and as JSON for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from adhere.errors import CommandError
from evaluators.verdict import Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Aggregate:
    evaluator: str
    outcomes: Mapping[Outcome, int]
    pass_rate: float | None
    """Of the verdicts with a score."""
    mean_score: float | None
    cost_usd: float | None
    calls: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int

    def as_json(self) -> dict[str, object]:
        return {
            "outcomes": {outcome.value: self.outcomes.get(outcome, 0) for outcome in Outcome},
            "pass_rate": self.pass_rate,
            "mean_score": self.mean_score,
            "cost_usd": self.cost_usd,
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "cached_input_tokens": self.cached_input_tokens,
            "output_tokens": self.output_tokens,
        }


def aggregates_of(verdicts: Sequence[Verdict]) -> list[Aggregate]:
    """By the evaluator's name."""
    names = sorted({verdict.evaluator for verdict in verdicts})
    return [_aggregate(name, [verdict for verdict in verdicts if verdict.evaluator == name]) for name in names]


def write_summary(verdicts: Sequence[Verdict], path: Path, *, conversations: int, unread: int) -> None:
    found = {
        "conversations": conversations,
        "verdicts": len(verdicts),
        "rows_not_read": unread,
        "evaluators": {one.evaluator: one.as_json() for one in aggregates_of(verdicts)},
        "without_an_answer": dict(Counter(verdict.error_type for verdict in verdicts if verdict.error_type)),
    }
    try:
        path.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    except OSError as err:
        raise CommandError(f"The summary cannot be written to {path}: {err.strerror}.") from err


def _aggregate(name: str, verdicts: Sequence[Verdict]) -> Aggregate:
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    scores = [verdict.score for verdict in verdicts if verdict.score is not None]
    costs = [verdict.judge.cost_usd for verdict in verdicts if verdict.judge.cost_usd is not None]
    return Aggregate(
        evaluator=name,
        outcomes=outcomes,
        pass_rate=outcomes[Outcome.PASS] / len(scores) if scores else None,
        mean_score=sum(scores) / len(scores) if scores else None,
        cost_usd=sum(costs) if costs else None,
        calls=sum(verdict.judge.calls for verdict in verdicts),
        input_tokens=sum(verdict.judge.input_tokens for verdict in verdicts),
        cached_input_tokens=sum(verdict.judge.cached_input_tokens for verdict in verdicts),
        output_tokens=sum(verdict.judge.output_tokens for verdict in verdicts),
    )
