"""What labelled task and role cases say about a judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from evaluators.measuring.report import (
    CONFUSION_COLUMNS,
    Report,
    Table,
    confusion_cells,
    confusion_figures,
    grouped,
    rounded,
    share_text,
)
from evaluators.measuring.run import Result
from evaluators.measuring.statistics import Confusion, confusion_of, mean, wilson
from evaluators.verdict import Outcome, UnitKind


def add_task(report: Report, results: Sequence[Result]) -> None:
    """Task adherence: the whole, each dimension, languages, kinds of fault, and whether the fault's turn was found."""
    found = [result for result in results if result.kind == "task_adherence" and result.case.task is not None]
    if not found:
        return
    whole = confusion_of((_is_faulty(result), result.failed) for result in found)
    dimensions = {name: _dimension(found, name) for name in ("goal", "rule", "procedure")}
    _add(report, "task_adherence", "Task adherence", {"all": whole, **dimensions}, "")
    if any(answer.unit.kind is UnitKind.TURN for result in found for answer in result.answers):
        _add_turns(report, found)
    by_language = {
        name: confusion_of((_is_faulty(result), result.failed) for result in group)
        for name, group in grouped(found, lambda result: result.case.language or "-").items()
    }
    _add(report, "task_adherence_by_language", "Task adherence by language", by_language, "language")
    faults = grouped(
        [r for r in found if r.case.fault is not None], lambda r: r.case.fault.type if r.case.fault else ""
    )
    rows = []
    for name, group in faults.items():
        missed = [result.case.id for result in group if result.failed is not True]
        rows.append([name, f"{len(group) - len(missed)} of {len(group)}", ", ".join(missed)])
    if rows:
        report.tables.append(Table("Faults by kind", ("fault", "caught", "not caught"), rows))
    report.figures["faults_by_kind"] = {
        name: {"caught": sum(result.failed is True for result in group), "cases": len(group)}
        for name, group in faults.items()
    }
    alarms = [result.case.id for result in found if not _is_faulty(result) and result.failed]
    report.figures["false_alarms"] = alarms
    if alarms:
        report.tables.append(Table("Clean conversations that failed", ("case",), [[name] for name in alarms]))
    _add_share(
        report,
        "fault_turn_found",
        "Faults caught with evidence from a turn of the fault",
        [bool(_fault_turns(r) & r.failed_turns) for r in found if r.case.fault is not None and r.failed],
    )


def _add_turns(report: Report, results: Sequence[Result]) -> None:
    """Where each turn was judged by itself: a fault is caught in any of its turns, and every other turn is clean."""
    pairs: list[tuple[bool, bool | None]] = []
    for result in results:
        failed = {answer.unit.turn_index: _FAILED.get(answer.judgement.outcome) for answer in result.answers}
        faulty = [failed.pop(turn, None) for turn in _fault_turns(result)]
        if faulty:
            pairs.append((True, True if True in faulty else None if None in faulty else False))
        pairs += [(False, said) for said in failed.values()]
    _add(report, "task_turns", "Single turns (those of one fault count as one)", {"turns": confusion_of(pairs)}, "")


_FAILED = {Outcome.FAIL: True, Outcome.PASS: False, Outcome.NOT_ASSESSABLE: False}
"""A turn in which nothing was asked is none that failed."""


def add_role(report: Report, results: Sequence[Result]) -> None:
    """Role adherence: conversations, single turns, languages, kinds."""
    found = [result for result in results if result.kind == "role_adherence" and result.case.role is not None]
    if not found:
        return
    pairs = [(result, _turn_pairs(result)) for result in found]
    rows = {
        "conversations": confusion_of((not all(_labels(result)), _any_deviates(result)) for result in found),
        "turns": confusion_of(pair for _, of_turns in pairs for pair in of_turns),
    }
    _add(report, "role_adherence", "Role adherence (a fault is a deviation)", rows, "")
    languages = {
        name: confusion_of((not all(_labels(result)), _any_deviates(result)) for result in group)
        for name, group in grouped(found, lambda result: result.case.language or "-").items()
    }
    _add(report, "role_adherence_by_language", "Role adherence by language", languages, "language")
    hits = [faulty == said for _, of_turns in pairs for faulty, said in of_turns if said is not None]
    _add_share(report, "deviation_turn_accuracy", "Turns judged as labelled", hits)
    exact = [all(faulty == said for faulty, said in of_turns) for _, of_turns in pairs]
    _add_share(report, "role_turns_exact", "Conversations with every turn as labelled", exact)
    kinds: dict[str, list[bool]] = {}
    for result in found:
        said = {cast("int", turn["turn"]): not turn["adherent"] for turn in _said_turns(result)}
        for deviation in result.case.deviations:
            kinds.setdefault(deviation.kind, []).append(said.get(result.case.turn_of(deviation.turn)) is True)
    table = [[kind, f"{sum(hits)} of {len(hits)}"] for kind, hits in sorted(kinds.items())]
    if table:
        report.tables.append(Table("Deviating turns by kind", ("kind", "found"), table))
    report.figures["deviations_by_kind"] = {kind: [sum(hits), len(hits)] for kind, hits in sorted(kinds.items())}
    wrong = [
        [result.case.id, ", ".join(_wrong_turns(of_turns))]
        for result, of_turns in pairs
        if any(said is not None and faulty != said for faulty, said in of_turns)
    ]
    if wrong:
        report.tables.append(Table("Turns judged otherwise than labelled", ("case", "turns"), wrong))


_LABEL_ROUNDING = 1e-3
"""Labels are written with three or four digits."""


def add_completeness(report: Report, results: Sequence[Result]) -> None:
    """The distance between the share of satisfied intentions and the labelled one."""
    errors: list[float] = []
    for result in results:
        scores = [answer.judgement.score for answer in result.answers if answer.judgement.score is not None]
        if result.kind == "conversation_completeness" and result.case.task is not None and scores:
            errors.append(abs(scores[0] - (result.case.task.completeness or 0.0)))
    if not errors:
        return
    report.figures["completeness_error"] = {
        "mean_absolute": rounded(mean(errors)),
        "exact_share": rounded(mean([float(error < _LABEL_ROUNDING) for error in errors])),
        "cases": len(errors),
    }
    exact = sum(error < _LABEL_ROUNDING for error in errors)
    row = [f"{mean(errors):.3f}", f"{exact} of {len(errors)}", f"{max(errors):.2f}"]
    report.tables.append(Table("Completeness", ("mean absolute error", "exact", "largest error"), [row]))


def _add(report: Report, key: str, title: str, rows: dict[str, Confusion], heading: str) -> None:
    report.figures[key] = {name: confusion_figures(found) for name, found in rows.items()}
    cells = [[name, *confusion_cells(found)] for name, found in rows.items()]
    report.tables.append(Table(title, (heading, *CONFUSION_COLUMNS), cells))


def _add_share(report: Report, key: str, title: str, hits: Sequence[bool]) -> None:
    if not hits:
        return
    share = mean([float(hit) for hit in hits])
    report.figures[key] = {"share": rounded(share), "number": sum(hits), "of": len(hits)}
    cell = [f"{sum(hits)} of {len(hits)}", share_text(share, wilson(sum(hits), len(hits)))]
    report.tables.append(Table(title, ("number", "share"), [cell]))


def _is_faulty(result: Result) -> bool:
    return result.case.task is not None and result.case.task.task_adherence == "fail"


def _dimension(results: Sequence[Result], name: str) -> Confusion:
    """Over the cases in which the label says that the prompt or the user demands something of that kind."""
    return confusion_of(
        (label == "fail", _dimension_failed(result, name))
        for result in results
        if result.case.task is not None and (label := result.case.task.dimensions[name]) != "na"
    )


def _dimension_failed(result: Result, name: str) -> bool | None:
    said: list[str] = []
    for answer in result.answers:
        dimensions = answer.judgement.details.get("dimensions")
        if answer.judgement.outcome in (Outcome.PASS, Outcome.FAIL) and isinstance(dimensions, dict):
            said.append(str(dimensions[name]["verdict"]))
        elif answer.judgement.outcome is not Outcome.NOT_ASSESSABLE:
            said.append("")
    return True if "fail" in said else None if not said or "" in said else False


def _fault_turns(result: Result) -> set[int]:
    fault = result.case.fault
    return set() if fault is None else {result.case.turn_of(turn) for turn in fault.turns}


def _labels(result: Result) -> Sequence[bool]:
    return result.case.role.turns if result.case.role is not None else ()


def _said_turns(result: Result) -> list[dict[str, object]]:
    return [
        turn
        for answer in result.answers
        for turn in cast("list[dict[str, object]]", answer.judgement.details.get("turns", []))
    ]


def _turn_pairs(result: Result) -> list[tuple[bool, bool | None]]:
    """(deviates by the label, deviates by the judge) of every labelled turn."""
    said: dict[object, bool] = {turn["turn"]: not turn["adherent"] for turn in _said_turns(result)}
    return [(not adheres, said.get(result.case.turn_of(index))) for index, adheres in enumerate(_labels(result))]


def _any_deviates(result: Result) -> bool | None:
    """From the single turns, so that it is strict whatever threshold an evaluator has."""
    said = [deviates for _, deviates in _turn_pairs(result)]
    return True if True in said else None if None in said or not said else False


def _wrong_turns(pairs: Sequence[tuple[bool, bool | None]]) -> list[str]:
    name: Callable[[bool], str] = lambda faulty: "missed" if faulty else "false alarm"  # noqa: E731 - one use
    return [f"{n} ({name(faulty)})" for n, (faulty, said) in enumerate(pairs) if said is not None and said != faulty]
