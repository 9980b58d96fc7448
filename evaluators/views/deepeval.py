"""The fields of a DeepEval metric after `measure`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evaluators.verdict import Outcome, Verdict
from evaluators.views.bounds import ITEM_BYTES, first_of, short
from evaluators.views.fields import entries, passed, threshold_of, tokens


def view(verdict: Verdict) -> dict[str, object]:
    sent, given, _ = tokens(verdict)
    return {
        "name": verdict.evaluator,
        "score": verdict.score,
        "success": passed(verdict),
        "reason": short(verdict.reason, max_bytes=600),
        "threshold": threshold_of(verdict),
        "error": None if verdict.outcome is not Outcome.ERROR else verdict.error_type or "error",
        "evaluation_model": verdict.judge.name,
        "evaluation_cost": verdict.judge.cost_usd,
        "input_tokens": sent,
        "output_tokens": given,
        "intentions": first_of(
            short(str(item.get("intention", "")), max_bytes=ITEM_BYTES) for item in entries(verdict, "intentions")
        ),
        "verdicts": first_of(_verdicts(verdict)),
    }


def _verdicts(verdict: Verdict) -> Iterator[dict[str, object]]:
    """One for each intention, turn, dimension or rule that was looked at."""
    for item in entries(verdict, "intentions"):
        yield _entry(str(item.get("satisfied")), item.get("reasoning"), item.get("turn"))
    for item in entries(verdict, "turns"):
        yield _entry("yes" if item.get("adherent") else "no", item.get("reasoning"), item.get("turn"))
    for item in entries(verdict, "rules"):
        yield {"verdict": item.get("status"), "rule": short(str(item.get("name")), max_bytes=60)}
    dimensions = verdict.details.get("dimensions")
    for name, item in dimensions.items() if isinstance(dimensions, Mapping) else ():
        if isinstance(item, Mapping):
            yield {"dimension": name, **_entry(str(item.get("verdict")), item.get("reasoning"), None)}


def _entry(answer: str, reasoning: object, turn: object) -> dict[str, object]:
    found: dict[str, object] = {"verdict": answer}
    if isinstance(turn, int):
        found["turn"] = turn
    if answer not in ("yes", "pass") and isinstance(reasoning, str) and reasoning:
        found["reason"] = short(reasoning, max_bytes=ITEM_BYTES)
    return found
