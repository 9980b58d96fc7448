"""Verdicts and decisions in lines of text, safe for a terminal."""

from __future__ import annotations

from collector.model import Turn
from evaluators.store.explain import DecisionRecord
from evaluators.verdict import Outcome, UnitKind, Verdict
from exporters.text import clean_line, clean_text

_MAX_TEXT = 400


def decision_line(decided: DecisionRecord, turn: Turn | None) -> str:
    decision = decided.decision
    what = "conversation" if decision.unit_key.startswith("conversation:") else f"turn {decided.turn_index}"
    span = f" (span {turn.span_id})" if turn is not None and what != "conversation" else ""
    return f"{what}{span} · {decision.evaluator} · {decision.kind.value}: {short(decision.reason)}"


def verdict_lines(verdict: Verdict) -> list[str]:
    score = "" if verdict.score is None else f" {verdict.score:.2f}"
    lines = [f"{verdict.outcome.value}{score} by {verdict.judge.name}: {short(verdict.reason)}"]
    for evidence in verdict.evidence:
        step = "" if evidence.step is None else f", step {evidence.step}"
        lines.append(f"evidence in turn {evidence.turn}{step}: “{short(evidence.quote)}”")
    if verdict.injection_suspected:
        lines.append("suspected: text in the conversation tries to steer the judge, or a tool's result gives orders")
    lines.append(f"verdict {verdict.id}, revision {verdict.revision}")
    return lines


def target(verdict: Verdict) -> str:
    return "conversation" if verdict.unit_kind is UnitKind.CONVERSATION else f"turn {verdict.turn_index}"


def is_flag(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.FAIL


def short(text: str, *, max_chars: int = _MAX_TEXT) -> str:
    """One line, safe for a terminal, cut visibly."""
    return clean_line(text, max_chars=max_chars)


def for_terminal(text: str) -> str:
    """Text with content of conversations in it, without what a terminal would obey."""
    return clean_text(text, max_chars=len(text) + 1)
