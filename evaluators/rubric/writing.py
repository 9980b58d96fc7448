"""Writes a rubric as plain values, for YAML that people read and edit."""

from __future__ import annotations

from evaluators.rubric.model import Criterion, Rubric


def written(rubric: Rubric) -> dict[str, object]:
    """The rubric as plain values that `reading.read_rubric` takes; what is at its default is left out."""
    found: dict[str, object] = {
        "name": rubric.name,
        "about": rubric.about,
        "on": rubric.on.value if rubric.on else None,
        "each_turn": rubric.each_turn or None,
        "needs_calls": rubric.needs_calls or None,
        "combine": rubric.combine,
        "threshold": rubric.threshold,
        "rating": rubric.rating or None,
        "given": {key: list(items) for key, items in rubric.given.items()} or None,
        "criteria": [_written(criterion) for criterion in rubric.criteria],
    }
    return {key: value for key, value in found.items() if value is not None}


def _written(criterion: Criterion) -> dict[str, object]:
    examples = [
        {"text": example.text, "answer": example.answer, **({"why": example.why} if example.why else {})}
        for example in criterion.examples
    ]
    found: dict[str, object] = {
        "name": criterion.name,
        "kind": criterion.kind,
        "ask": criterion.ask,
        "applies": criterion.applies,
        "weight": None if criterion.weight == 1 else criterion.weight,
        "required": criterion.required or None,
        "examples": examples or None,
        "source": criterion.source,
    }
    return {key: value for key, value in found.items() if value is not None}
