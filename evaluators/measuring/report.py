"""What a report is made of: headed tables of text, and the same figures as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from evaluators.measuring.run import Answered
from evaluators.measuring.statistics import Confusion, Interval, quantile, wilson
from evaluators.verdict import Outcome

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(slots=True)
class Report:
    tables: list[Table] = field(default_factory=list)
    figures: dict[str, object] = field(default_factory=dict)
    """JSON values."""


def grouped(items: Iterable[T], key: Callable[[T], str]) -> Mapping[str, list[T]]:
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return dict(sorted(groups.items()))


CONFUSION_COLUMNS = ("faults caught", "sensitivity", "clean passed", "specificity", "kappa", "no answer")


def confusion_cells(found: Confusion) -> list[str]:
    return [
        f"{found.caught} of {found.faulty + found.faulty_unanswered}",
        share_text(found.sensitivity, wilson(found.caught, found.faulty)),
        f"{found.cleared} of {found.clean + found.clean_unanswered}",
        share_text(found.specificity, wilson(found.cleared, found.clean)),
        share_text(found.kappa, found.kappa_interval),
        str(found.unanswered),
    ]


def confusion_figures(found: Confusion) -> dict[str, object]:
    return {
        "caught": found.caught,
        "missed": found.missed,
        "false_alarms": found.false_alarms,
        "cleared": found.cleared,
        "faulty_unanswered": found.faulty_unanswered,
        "clean_unanswered": found.clean_unanswered,
        "sensitivity": rounded(found.sensitivity),
        "sensitivity_interval": _rounded_pair(wilson(found.caught, found.faulty)),
        "specificity": rounded(found.specificity),
        "specificity_interval": _rounded_pair(wilson(found.cleared, found.clean)),
        "kappa": rounded(found.kappa),
        "kappa_interval": _rounded_pair(found.kappa_interval),
    }


def add_usage(report: Report, answered: Sequence[Answered], *, calls: int, durations_s: Sequence[float]) -> None:
    """Calls, tokens, cost and latency, and what has no answer and why."""
    infos = [one.judgement.judge for one in answered]
    tokens, cached = sum(info.input_tokens for info in infos), sum(info.cached_input_tokens for info in infos)
    costs = [info.cost_usd for info in infos if info.cost_usd is not None]
    repaired = sum(bool(one.judgement.details.get("repaired")) for one in answered)
    median, slowest = quantile(durations_s, 0.5), quantile(durations_s, 0.95)
    figures: dict[str, object] = {
        "judgements": len(answered),
        "calls": calls,
        "repaired": repaired,
        "input_tokens": tokens,
        "cached_input_share": rounded(cached / tokens) if tokens else None,
        "output_tokens": sum(info.output_tokens for info in infos),
        "cost_usd": rounded(sum(costs), 6) if costs else None,
        "latency_p50_s": rounded(median),
        "latency_p95_s": rounded(slowest),
    }
    report.figures["usage"] = figures
    rows = [[name.replace("_", " "), "-" if value is None else str(value)] for name, value in figures.items()]
    report.tables.append(Table("What it took", ("", ""), rows))
    unanswered = grouped(
        (one for one in answered if one.judgement.outcome not in (Outcome.PASS, Outcome.FAIL)),
        lambda one: one.judgement.error_type or one.judgement.outcome.value,
    )
    report.figures["no_answer"] = {reason: len(group) for reason, group in unanswered.items()}
    if unanswered:
        rows = [[reason, str(len(group)), _some(group)] for reason, group in unanswered.items()]
        report.tables.append(Table("Without an answer, and so without a score", ("reason", "number", "cases"), rows))


def share_text(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" + (f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval is not None else "")


def rounded(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else round(value, digits)


def _rounded_pair(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [round(end, 4) for end in interval]


def _some(group: Sequence[Answered], most: int = 4) -> str:
    names = list(dict.fromkeys(one.case.id for one in group))
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
