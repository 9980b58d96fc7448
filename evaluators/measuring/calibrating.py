"""Measures a judge on what people said about the same units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evaluators.errors import EvaluatorConfigError
from evaluators.evaluator import Evaluator, Judgement
from evaluators.measuring.calibration import Calibration
from evaluators.measuring.labels import LabelledUnit
from evaluators.measuring.report import (
    CONFUSION_COLUMNS,
    Report,
    Table,
    confusion_cells,
    confusion_figures,
    grouped,
    rounded,
)
from evaluators.measuring.statistics import Confusion, confusion_of
from evaluators.verdict import Outcome, Unit

FEWEST_LABELS = 30
"""Under this the intervals are so wide that the figures decide nothing."""


@dataclass(frozen=True, slots=True)
class LabelQuestion:
    """Asks the judge about a unit that a person has labelled."""

    label: LabelledUnit
    evaluator: Evaluator

    @property
    def unit(self) -> Unit:
        return self.label.unit


@dataclass(frozen=True, slots=True)
class Labelled:
    """What a person said about a unit, and what the judge did."""

    label: LabelledUnit
    judgement: Judgement


def usable(labels: Sequence[LabelledUnit]) -> list[LabelledUnit]:
    """Those with a label that decides; raises `EvaluatorConfigError` for none, or for more than one evaluator."""
    found = [one for one in labels if one.label in ("pass", "fail")]
    if not found:
        raise EvaluatorConfigError("No unit has the label pass or fail: label some with `adhere label`.")
    names = sorted({one.evaluator for one in found})
    if len(names) > 1:
        raise EvaluatorConfigError(f"The labels are about {' and '.join(names)}: keep a file for each evaluator.")
    return found


def calibrate(pairs: Sequence[Labelled], evaluator: Evaluator, *, now_ns: int) -> Calibration:
    return Calibration(
        evaluator=evaluator.name,
        evaluator_version=evaluator.version,
        rubric_version=evaluator.rubric_version,
        judge=evaluator.judge_name,
        confusion=_confusion(pairs),
        calibrated_ns=now_ns,
    )


def add_calibration(report: Report, pairs: Sequence[Labelled]) -> None:
    rows = {"all": _confusion(pairs)}
    languages = grouped(pairs, lambda pair: pair.label.language or "-")
    rows |= {name: _confusion(group) for name, group in languages.items()}
    report.figures["agreement"] = {name: confusion_figures(found) for name, found in rows.items()}
    cells = [[name, *confusion_cells(found)] for name, found in rows.items()]
    report.tables.append(Table("Agreement with people, in all and by language", ("", *CONFUSION_COLUMNS), cells))
    found = rows["all"]
    report.tables.append(
        Table(
            "Confusion",
            ("people say", "judge: fail", "judge: pass", "no answer"),
            [
                ["fail", str(found.caught), str(found.missed), str(found.faulty_unanswered)],
                ["pass", str(found.false_alarms), str(found.cleared), str(found.clean_unanswered)],
            ],
        )
    )
    best = best_threshold(pairs)
    if best is not None:
        threshold, at_best = best
        report.figures["best_threshold"] = {"threshold": rounded(threshold), **confusion_figures(at_best)}
        report.tables.append(
            Table(
                "Best threshold", ("pass from", *CONFUSION_COLUMNS), [[f"{threshold:.2f}", *confusion_cells(at_best)]]
            )
        )


def best_threshold(pairs: Sequence[Labelled]) -> tuple[float, Confusion] | None:
    """Where sensitivity + specificity (Youden 1950) is largest, half-way between the scores beside it; of several the
    lowest. None unless both labels and three different scores are there, as 0 and 1 have but one threshold.
    """
    scored = [
        (pair.label.label == "fail", pair.judgement.score)
        for pair in pairs
        if pair.judgement.outcome in (Outcome.PASS, Outcome.FAIL) and pair.judgement.score is not None
    ]
    scores = sorted({score for _, score in scored})
    if len(scores) < 3 or len({faulty for faulty, _ in scored}) < 2:
        return None
    best: tuple[float, float, Confusion] | None = None
    for low, high in pairwise(scores):
        threshold = (low + high) / 2
        found = confusion_of((faulty, score < threshold) for faulty, score in scored)
        worth = (found.sensitivity or 0.0) + (found.specificity or 0.0)
        if best is None or worth > best[0]:
            best = worth, threshold, found
    assert best is not None
    return best[1], best[2]


def _confusion(pairs: Sequence[Labelled]) -> Confusion:
    verdicts: Mapping[Outcome, bool] = {Outcome.FAIL: True, Outcome.PASS: False}
    return confusion_of((pair.label.label == "fail", verdicts.get(pair.judgement.outcome)) for pair in pairs)
