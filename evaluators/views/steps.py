"""How a verdict came about, in lines: what was judged, what was found in it, what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from collector.model import Conversation
from evaluators.verdict import Verdict
from evaluators.views.fields import entries, threshold_of

_WIDTH = 200


def steps_of(verdict: Verdict, conversation: Conversation) -> list[str]:
    return [
        f"{verdict.evaluator} by {verdict.judge.name}, verdict {verdict.id}",
        *_turns(conversation),
        *_intentions(verdict),
        *_checked(verdict),
        *_conclusion(verdict),
    ]


def _turns(conversation: Conversation) -> Iterator[str]:
    for turn in conversation.turns:
        yield f"turn {turn.index} user: {_short(turn.user_input)}"
        if turn.steps:
            yield f"turn {turn.index} steps: {len(turn.steps)}"
        yield f"turn {turn.index} answer: {_short(turn.output)}"


def _intentions(verdict: Verdict) -> Iterator[str]:
    for item in entries(verdict, "intentions"):
        yield f"intention, turn {item.get('turn')}: {_short(item.get('intention'))}"
        yield f"  satisfied: {item.get('satisfied')} ({_short(item.get('reasoning'))})"


def _checked(verdict: Verdict) -> Iterator[str]:
    for item in entries(verdict, "turns"):
        adheres = "adheres" if item.get("adherent") else "deviates"
        yield f"turn {item.get('turn')} {adheres}: {_short(item.get('reasoning'))}"
    for item in entries(verdict, "rules"):
        yield f"{item.get('kind')} {item.get('name')}: {item.get('status')} {_short(item.get('reason'))}".rstrip()
    dimensions = verdict.details.get("dimensions")
    for name, item in dimensions.items() if isinstance(dimensions, Mapping) else ():
        if isinstance(item, Mapping):
            yield f"{name}: {item.get('verdict')} ({_short(item.get('reasoning'))})"


def _conclusion(verdict: Verdict) -> Iterator[str]:
    for piece in verdict.evidence:
        step = "" if piece.step is None else f", step {piece.step}"
        yield f"evidence, turn {piece.turn}{step}: {_short(piece.quote)}"
    score = "none" if verdict.score is None else f"{verdict.score:.2f}"
    yield f"outcome: {verdict.outcome.value}; score: {score}; threshold: {threshold_of(verdict)}"
    yield f"reason: {verdict.reason}"


def _short(value: object) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else "(none)" if value is None else str(value)
    return text if len(text) <= _WIDTH else text[:_WIDTH] + "…"
