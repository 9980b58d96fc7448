"""The user asked, the turn ended, and there was no answer.

An answer that the telemetry does not hold is none of this check's business. A turn that ends with a call to be carried
out elsewhere, by a front end or after an approval, or with a tool's result, which may have been shown as it is, is
flagged and not failed.
"""

from __future__ import annotations

from collector.model import GapKind, HandoffStep, MessageStep, ToolCallStep, ToolResultStep, Turn, TurnStatus
from evaluators.finding import Breach, Finding, concluded, flagged
from evaluators.timeline import Result, Timeline
from evaluators.verdict import Evidence

_MAX_QUOTE_CHARS = 400
_HIDING = frozenset(
    {
        GapKind.CONTENT_OFF,
        GapKind.CONTENT_ELSEWHERE,
        GapKind.OUTPUT_MISSING,
        GapKind.TRUNCATED,
        GapKind.ATTRIBUTES_DROPPED,
        GapKind.REDACTED,
        GapKind.HISTORY_UNSEEN,
        GapKind.SPANS_MISSING,
        GapKind.UNDECODABLE,
    }
)


class NoAnswer:
    name = "no_answer"
    demand = "the user gets an answer"

    def check(self, timeline: Timeline) -> Finding:
        breaches: list[Breach] = []
        unknown: list[str] = []
        elsewhere: list[Breach] = []
        seen = 0
        for turn in timeline.judged_turns:
            if not (turn.user_input or "").strip():
                continue
            seen += 1
            if _has_answer(turn):
                continue
            if _HIDING.intersection(turn.gaps) or turn.status is TurnStatus.INCOMPLETE:
                unknown.append(f"The answer of turn {turn.index} is not in the telemetry.")
                continue
            asked = (turn.user_input or "").strip()[:_MAX_QUOTE_CHARS]
            evidence = (Evidence(turn.index, None, asked, turn.span_id),)
            end = _end_elsewhere(turn)
            if end is not None:
                elsewhere.append(Breach(f"Turn {turn.index} ends with {end} and no answer to the user.", evidence))
            else:
                how = "ended in an error" if turn.status is TurnStatus.ERROR else "ended"
                breaches.append(Breach(f"Turn {turn.index} {how} without an answer to the user.", evidence))
        if elsewhere and not breaches:
            return flagged(places=elsewhere, seen=seen)
        return concluded(breaches=breaches, seen=seen, unknown=unknown)


def _has_answer(turn: Turn) -> bool:
    if (turn.output or "").strip():
        return True
    return any(isinstance(step, MessageStep) and step.text.strip() for step in turn.steps)


def _end_elsewhere(turn: Turn) -> str | None:
    """What the turn ends with, where that may go on elsewhere."""
    if not turn.steps or turn.status is TurnStatus.ERROR:
        return None
    last, number = turn.steps[-1], len(turn.steps) - 1
    match last:
        case ToolCallStep():
            return "a call"
        case HandoffStep():
            return "a handoff"
        case ToolResultStep():
            return None if Result.of(turn, number, last).failed else "a result"
        case MessageStep():
            return None
