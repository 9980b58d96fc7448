"""A verdict as the score APIs of other backends see it: whether it is a score, what it belongs to, what goes with it.

Only `pass` and `fail` are scores. A turn's score belongs to its target span, a conversation's to the session or thread
that the backend keeps under the conversation's id; where it keeps none, to the target span's trace.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Final, TypeAlias

from evaluators.verdict import Outcome, UnitKind, Verdict
from exporters.otlp.attributes import evidence_json, explanation
from exporters.otlp.envelope import binary_id
from exporters.text import clean_line, clean_text

Metadata: TypeAlias = dict[str, str | int | float | bool]

BUILTIN_JUDGE: Final = "builtin"
_NAMESPACE: Final = uuid.UUID("6c1f0a3e-5d53-5b0f-9d0e-1f3b7f2f6a11")
_MAX_SESSION_CHARS: Final = 200


def why_no_score(verdict: Verdict) -> str | None:
    """Why a backend that knows nothing but scores on spans has no form for it; None where it has."""
    if verdict.outcome not in (Outcome.PASS, Outcome.FAIL):
        return verdict.outcome.value
    if verdict.score is None:
        return "no_score"
    return None if has_trace(verdict) else "no_target"


def has_trace(verdict: Verdict) -> bool:
    return bool(binary_id(verdict.trace_id, size=16))


def has_span(verdict: Verdict) -> bool:
    return has_trace(verdict) and bool(binary_id(verdict.span_id, size=8))


def is_on_conversation(verdict: Verdict) -> bool:
    return verdict.unit_kind is UnitKind.CONVERSATION


def session_id(verdict: Verdict) -> str | None:
    """For a conversation's verdict, the id under which a backend may keep the conversation.

    None where only the trace id stands in for an id, and where the id is longer than backends take.
    """
    found = verdict.conversation_id
    if not is_on_conversation(verdict) or not found or found == verdict.trace_id:
        return None
    return found if len(found) <= _MAX_SESSION_CHARS and found.isprintable() else None


def score_name(verdict: Verdict) -> str:
    return clean_line(verdict.evaluator, max_chars=200)


def score_of(verdict: Verdict) -> float:
    assert verdict.score is not None
    return min(1.0, max(0.0, float(verdict.score)))


def passed(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.PASS


def label_of(verdict: Verdict) -> str:
    """The evaluator's own label, else the outcome."""
    return clean_line(verdict.label or verdict.outcome.value, max_chars=200)


def comment_of(verdict: Verdict, *, content: bool, max_chars: int = 4000) -> str | None:
    """The reason; None without it, and where content is not to be sent."""
    return (explanation(verdict, max_chars=max_chars) or None) if content else None


def annotator_kind(verdict: Verdict) -> str:
    """`CODE` or `LLM`, as Phoenix and OpenInference call it."""
    return "CODE" if verdict.judge.name == BUILTIN_JUDGE else "LLM"


def verdict_uuid(verdict_id: str) -> uuid.UUID:
    """The same for the same verdict, for backends whose keys are UUIDs."""
    return uuid.uuid5(_NAMESPACE, verdict_id)


def target_time(verdict: Verdict) -> datetime:
    """End of the target span: a time that does not change when the verdict is sent again."""
    return datetime.fromtimestamp(max(0, verdict.target_end_ns) / 1e9, tz=UTC)


def target_time_text(verdict: Verdict) -> str:
    """ISO 8601 in UTC, to the millisecond."""
    return target_time(verdict).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def metadata_of(verdict: Verdict, *, content: bool, prefix: str = "adhere.") -> Metadata:
    """What tells where the score comes from; the evidence, as JSON text, with `content` only."""
    judge = verdict.judge
    found: dict[str, str | int | float | bool | None] = {
        "verdict_id": clean_text(verdict.id, max_chars=256),
        "supersedes": clean_text(verdict.supersedes, max_chars=256) if verdict.supersedes else None,
        "outcome": verdict.outcome.value,
        "label": label_of(verdict),
        "unit": verdict.unit_kind.value,
        "turn_index": verdict.turn_index,
        "revision": verdict.revision,
        "conversation_id": clean_text(verdict.conversation_id, max_chars=1024),
        "trace_id": verdict.trace_id if has_trace(verdict) else None,
        "span_id": verdict.span_id if has_span(verdict) else None,
        "agent_name": clean_line(verdict.agent_name or "", max_chars=256),
        "agent_version": clean_line(verdict.agent_version or "", max_chars=256),
        "evaluator_version": clean_line(verdict.evaluator_version, max_chars=256),
        "rubric_version": clean_line(verdict.rubric_version, max_chars=256),
        "judge_model": clean_line(judge.name, max_chars=256),
        "cost_usd": judge.cost_usd,
        "evidence": evidence_json(verdict.evidence) if content and verdict.evidence else None,
    }
    return {prefix + key: value for key, value in found.items() if value is not None and value != ""}
