"""Scores as attributes of the judged span: `gen_ai.evaluation.<name>.score.value`, `.score.label`, `.explanation`.

Only verdicts with a score have any. The event and the evaluation span, which are sent beside it, hold everything else.
"""

from __future__ import annotations

from collections.abc import Iterable

from evaluators.verdict import Verdict
from exporters.otlp.attributes import explanation, score_label, score_value
from exporters.text import clean_line

_MAX_NAME_CHARS = 256


def target_attributes(verdicts: Iterable[Verdict], *, content: bool = True) -> dict[str, str | float]:
    """Without `content`, no explanation: it may quote the conversation."""
    found: dict[str, str | float] = {}
    for verdict in verdicts:
        value, label = score_value(verdict), score_label(verdict)
        prefix = f"gen_ai.evaluation.{clean_line(verdict.evaluator, max_chars=_MAX_NAME_CHARS)}"
        if value is not None:
            found[f"{prefix}.score.value"] = value
        if label:
            found[f"{prefix}.score.label"] = label
        if label and content and (said := explanation(verdict)):
            found[f"{prefix}.explanation"] = said
    return found
