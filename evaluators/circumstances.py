"""What code knows of a unit beside the answer to it, and writes on every verdict: flags, and what the turns took.

Flags name what a reader must know to trust a score, and none of them is a fault of the agent: `long_input` (the judge
was shown a part, or one part after the other), `malformed_arguments`, `tool_result_missing`, `orphan_result`,
`output_missing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from collector.model import GapKind, ToolCallStep, Turn
from evaluators.assessable import judged_turns
from evaluators.evaluator import Evaluator, Judgement
from evaluators.scale import scale_of
from evaluators.verdict import Outcome, Unit

LONG_INPUT = "long_input"
MALFORMED_ARGUMENTS = "malformed_arguments"
_FLAGGED_GAPS = (GapKind.ORPHAN_RESULT, GapKind.OUTPUT_MISSING, GapKind.TOOL_RESULT_MISSING)
_NS_PER_S = 1e9


def circumstances(judgement: Judgement, unit: Unit, evaluator: Evaluator) -> dict[str, object]:
    """Left out where there is nothing to say."""
    found: dict[str, object] = {}
    threshold = scale_of(evaluator).threshold
    if threshold is not None and judgement.outcome in (Outcome.PASS, Outcome.FAIL):
        found["threshold"] = threshold
    turns = judged_turns(unit)
    flags = sorted(set(_flags(turns, judgement.details)))
    if flags:
        found["flags"] = flags
    measures = _measures(turns)
    if measures:
        found["measures"] = measures
    return found


def _flags(turns: Sequence[Turn], details: Mapping[str, object]) -> Iterator[str]:
    coverage = details.get("coverage")
    if (isinstance(coverage, float) and coverage < 1) or "stretches" in details:
        yield LONG_INPUT
    for turn in turns:
        yield from (gap.value for gap in _FLAGGED_GAPS if gap in turn.gaps)
        if any(isinstance(step, ToolCallStep) and isinstance(step.arguments, str) for step in turn.steps):
            yield MALFORMED_ARGUMENTS


def _measures(turns: Sequence[Turn]) -> dict[str, float]:
    """Sums over the turns that are known; nothing is concluded for the others."""
    times = [turn.end_ns - turn.start_ns for turn in turns if 0 < turn.start_ns <= turn.end_ns]
    sent = [turn.input_tokens for turn in turns if turn.input_tokens is not None]
    given = [turn.output_tokens for turn in turns if turn.output_tokens is not None]
    costs = [turn.cost_usd for turn in turns if turn.cost_usd is not None]
    found: dict[str, float] = {}
    if times:
        found["latency_s"] = round(sum(times) / _NS_PER_S, 6)
    if sent:
        found["input_tokens"] = sum(sent)
    if given:
        found["output_tokens"] = sum(given)
    if costs:
        found["cost_usd"] = sum(costs)
    return found
