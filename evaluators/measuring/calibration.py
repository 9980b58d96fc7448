"""How far a judge's verdicts can be trusted, kept beside them.

A calibration belongs to one evaluator in one version, one rubric and one judge: with another of these it says nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import structlog

from evaluators.errors import EvaluatorConfigError
from evaluators.evaluator import Evaluator
from evaluators.measuring.statistics import Confusion, corrected_share, wilson
from evaluators.verdict import Outcome, Verdict

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Calibration:
    evaluator: str
    evaluator_version: str
    rubric_version: str
    judge: str
    confusion: Confusion
    calibrated_ns: int

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.evaluator, self.evaluator_version, self.rubric_version, self.judge

    @property
    def text(self) -> str:
        """One line beside verdicts."""
        found = self.confusion
        figures = (("kappa", found.kappa), ("sensitivity", found.sensitivity), ("specificity", found.specificity))
        known = ", ".join(f"{name} {value:.2f}" for name, value in figures if value is not None)
        return f"measured on {found.answered} labels: {known or 'no figures'}"

    def true_share_of_faults(self, failed: int, judged: int) -> float | None:
        """The share behind so many fails, the judge's known errors taken out; None where nothing can be said."""
        sensitivity, specificity = self.confusion.sensitivity, self.confusion.specificity
        if not judged or sensitivity is None or specificity is None:
            return None
        return corrected_share(failed / judged, sensitivity=sensitivity, specificity=specificity)


class Calibrations:
    """All that is known, by evaluator, versions and judge."""

    def __init__(self, known: Sequence[Calibration] = ()) -> None:
        self._known = {one.key: one for one in known}

    def of(self, verdict: Verdict) -> Calibration | None:
        key = verdict.evaluator, verdict.evaluator_version, verdict.rubric_version, verdict.judge.name
        return self._known.get(key)

    def of_evaluator(self, evaluator: Evaluator) -> Calibration | None:
        key = evaluator.name, evaluator.version, evaluator.rubric_version, evaluator.judge_name
        return self._known.get(key)

    def with_one(self, one: Calibration) -> Calibrations:
        return Calibrations([*(known for known in self._known.values() if known.key != one.key), one])

    def write(self, path: Path) -> None:
        """Raises `EvaluatorConfigError`."""
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            temporary.write_text(json.dumps([_record(one) for one in self._known.values()], indent=1) + "\n")
            temporary.replace(path)
        except OSError as err:
            raise EvaluatorConfigError(f"The calibration cannot be stored in {path}: {err.strerror}.") from err


def read_calibrations(path: Path) -> Calibrations:
    """None known where the file is missing or was not written by this, which is logged; no report ends for it."""
    try:
        return stored_calibrations(path)
    except EvaluatorConfigError as err:
        log.warning("calibration not used", error=str(err))
        return Calibrations()


def stored_calibrations(path: Path) -> Calibrations:
    """For whoever adds to the file. Raises `EvaluatorConfigError` where writing would lose what cannot be read."""
    try:
        records = json.loads(path.read_bytes())
        if not isinstance(records, list):
            raise TypeError  # noqa: TRY301 - one answer to all that a file may hold
        return Calibrations([_calibration(record) for record in records])
    except FileNotFoundError:
        return Calibrations()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as err:
        raise EvaluatorConfigError(
            f"The calibration {path} cannot be read ({type(err).__name__}); move it away to begin a new one."
        ) from err


def _record(one: Calibration) -> Mapping[str, object]:
    return {
        "evaluator": one.evaluator,
        "evaluator_version": one.evaluator_version,
        "rubric_version": one.rubric_version,
        "judge": one.judge,
        "calibrated_ns": one.calibrated_ns,
        "counts": asdict(one.confusion),
        "kappa": one.confusion.kappa,
        "kappa_interval": one.confusion.kappa_interval,
        "sensitivity": one.confusion.sensitivity,
        "sensitivity_interval": wilson(one.confusion.caught, one.confusion.faulty),
        "specificity": one.confusion.specificity,
        "specificity_interval": wilson(one.confusion.cleared, one.confusion.clean),
    }


def _calibration(record: Mapping[str, Any]) -> Calibration:
    return Calibration(
        evaluator=str(record["evaluator"]),
        evaluator_version=str(record["evaluator_version"]),
        rubric_version=str(record["rubric_version"]),
        judge=str(record["judge"]),
        confusion=Confusion(**{name: int(count) for name, count in record["counts"].items()}),
        calibrated_ns=int(record["calibrated_ns"]),
    )


def lines_about(verdicts: Sequence[Verdict], calibrations: Calibrations) -> list[str]:
    """One line for each evaluator, rubric and judge that is measured: how good it is, and the share of faults with its
    known errors taken out.
    """
    known: dict[Calibration, list[Verdict]] = {}
    for verdict in verdicts:
        one = calibrations.of(verdict)
        if one is not None and verdict.outcome in (Outcome.PASS, Outcome.FAIL):
            known.setdefault(one, []).append(verdict)
    lines: list[str] = []
    for one, judged in known.items():
        failed = sum(verdict.outcome is Outcome.FAIL for verdict in judged)
        corrected = one.true_share_of_faults(failed, len(judged))
        told = "" if corrected is None else f"; {corrected:.0%} after the judge's known errors"
        lines.append(f"{one.evaluator} by {one.judge}, {one.text}. Failed {failed / len(judged):.0%}{told}.")
    return lines
