"""The attributes of a verdict, one table for events and spans.

Names of the OpenTelemetry GenAI conventions where they exist (`gen_ai.evaluation.*`, `gen_ai.response.id`,
`gen_ai.conversation.id`, `gen_ai.agent.*`, `error.type`), `adhere.*` for the rest. An outcome that
carries no score gets no score and no label, whatever else is known. `error.type` means that the evaluation failed; a
unit that could not be assessed is no failure and says why in `adhere.not_assessable.reason`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeAlias

from evaluators.verdict import Evidence, Outcome, Verdict
from exporters.text import clean_line, clean_text

AttributeValue: TypeAlias = str | bool | int | float

EVENT_NAME = "gen_ai.evaluation.result"
UNKNOWN_ERROR = "_OTHER"
"""What the conventions name for an error without a type."""

MAX_EXPLANATION_CHARS = 4000
_MAX_NAME_CHARS = 256
_MAX_QUOTE_CHARS = 500
_MAX_EVIDENCE_CHARS = 8000


def evaluation_attributes(
    verdict: Verdict, *, content: bool = True, max_explanation_chars: int = MAX_EXPLANATION_CHARS
) -> dict[str, AttributeValue]:
    """Without `content`, neither the explanation nor the evidence: both may quote the conversation."""
    judge = verdict.judge
    found: dict[str, AttributeValue | None] = {
        "gen_ai.evaluation.name": _name(verdict.evaluator),
        "gen_ai.evaluation.score.value": score_value(verdict),
        "gen_ai.evaluation.score.label": score_label(verdict),
        "gen_ai.evaluation.explanation": explanation(verdict, max_chars=max_explanation_chars) if content else None,
        "gen_ai.response.id": _id(verdict.response_id),
        "gen_ai.conversation.id": _id(verdict.conversation_id),
        "gen_ai.agent.name": _name(verdict.agent_name),
        "gen_ai.agent.version": _name(verdict.agent_version),
        "error.type": error_type(verdict),
        "adhere.unit": verdict.unit_kind.value,
        "adhere.turn.index": verdict.turn_index,
        "adhere.revision": verdict.revision,
        "adhere.outcome": verdict.outcome.value,
        "adhere.not_assessable.reason": not_assessable_reason(verdict),
        "adhere.verdict.id": _id(verdict.id),
        "adhere.supersedes": _id(verdict.supersedes),
        "adhere.evaluator.version": _name(verdict.evaluator_version),
        "adhere.rubric.version": _name(verdict.rubric_version),
        "adhere.judge.model": _name(judge.name),
        "adhere.judge.calls": judge.calls,
        "adhere.judge.input_tokens": judge.input_tokens if judge.calls else None,
        "adhere.judge.cached_input_tokens": judge.cached_input_tokens if judge.calls else None,
        "adhere.judge.output_tokens": judge.output_tokens if judge.calls else None,
        "adhere.judge.duration_s": float(judge.duration_s) if judge.calls else None,
        "adhere.cost.usd": judge.cost_usd,
        "adhere.injection.suspected": True if verdict.injection_suspected else None,
        "adhere.evidence": evidence_json(verdict.evidence) if content and verdict.evidence else None,
        # The loop guard knows our scope; this mark survives backends that lose scopes.
        "adhere.internal": True,
    }
    return {key: value for key, value in found.items() if value is not None and value != ""}


def score_value(verdict: Verdict) -> float | None:
    return float(verdict.score) if verdict.score is not None and _is_scored(verdict) else None


def score_label(verdict: Verdict) -> str | None:
    """The evaluator's own label, else `pass` or `fail`."""
    return _name(verdict.label or verdict.outcome.value) if _is_scored(verdict) else None


def explanation(verdict: Verdict, *, max_chars: int = MAX_EXPLANATION_CHARS) -> str:
    return clean_text(verdict.reason, max_chars=max_chars)


def error_type(verdict: Verdict) -> str | None:
    return _name(verdict.error_type or UNKNOWN_ERROR) if verdict.outcome is Outcome.ERROR else None


def not_assessable_reason(verdict: Verdict) -> str | None:
    return _name(verdict.error_type) if verdict.outcome is Outcome.NOT_ASSESSABLE else None


def evidence_json(evidence: Sequence[Evidence]) -> str:
    """A JSON list that stays valid at its bound: whole items go, and the last one says how many."""
    items: list[dict[str, object]] = []
    size = 2
    for number, item in enumerate(evidence):
        entry: dict[str, object] = {"turn": item.turn, "quote": clean_text(item.quote, max_chars=_MAX_QUOTE_CHARS)}
        if item.step is not None:
            entry["step"] = item.step
        if item.span_id:
            entry["span_id"] = item.span_id
        size += len(_json(entry)) + 1
        if size > _MAX_EVIDENCE_CHARS:
            items.append({"truncated": len(evidence) - number})
            break
        items.append(entry)
    return _json(items)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _is_scored(verdict: Verdict) -> bool:
    return verdict.outcome in (Outcome.PASS, Outcome.FAIL)


def _id(text: str | None) -> str | None:
    """Not shortened to a line: an id must stay equal to what the telemetry calls it."""
    return clean_text(text, max_chars=1024) if text else None


def _name(text: str | None) -> str | None:
    return clean_line(text, max_chars=_MAX_NAME_CHARS) if text else None
