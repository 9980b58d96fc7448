"""What is known about the judges in use, as metrics, so that dashboards and alerts can take it into account."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Gauge

from evaluators.evaluator import Evaluator
from evaluators.measuring.calibration import Calibrations


def show_calibrations(registry: CollectorRegistry, evaluators: Iterable[Evaluator], known: Calibrations) -> None:
    """Of evaluators with the very rubric and judge that were measured; of others nothing is known."""
    gauge = Gauge(
        "adhere_judge_calibration",
        "The judge against people's labels, by measure: kappa, sensitivity, specificity, labels (their number).",
        ["evaluator", "judge", "rubric_version", "measure"],
        registry=registry,
    )
    for evaluator in evaluators:
        one = known.of_evaluator(evaluator)
        if one is None:
            continue
        found = one.confusion
        measures = {
            "kappa": found.kappa,
            "sensitivity": found.sensitivity,
            "specificity": found.specificity,
            "labels": float(found.answered),
        }
        for measure, value in measures.items():
            if value is not None:
                gauge.labels(one.evaluator, one.judge, one.rubric_version, measure).set(value)
