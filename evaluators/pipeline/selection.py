"""Which units an evaluator is not asked about, and why: everything that is decided before any judge is.

Sampling is by conversation, from a hash of its key: the same answer for each of its turns, revisions and re-sent spans,
on every machine. A conversation in the sample of 0.1 is in that of 0.2 as well.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from collector.model import GapKind, TurnStatus
from evaluators.pipeline.setup import EvaluatorSetup, matches
from evaluators.verdict import DecisionKind, Unit, UnitKind

LEFT_OUT_OF_BUDGET = "The judge's budget is used up, and judge.budget.wait leaves this conversation out."


@dataclass(frozen=True, slots=True)
class Skip:
    kind: DecisionKind
    reason: str
    code: str
    """The reason in one low-cardinality word, for metrics."""


def skip(setup: EvaluatorSetup, unit: Unit) -> Skip | None:
    """None: ask the evaluator."""
    conversation = unit.conversation
    if not matches(conversation.service, setup.services):
        return Skip(DecisionKind.FILTERED, f"Its service is none of {', '.join(setup.services)}.", "service")
    if not matches(conversation.agent.name, setup.agents):
        return Skip(DecisionKind.FILTERED, f"Its agent is none of {', '.join(setup.agents)}.", "agent")
    filtered = setup.filters.why_not(unit)
    if filtered is not None:
        code, reason = filtered
        return Skip(DecisionKind.FILTERED, reason, code)
    if not in_sample(conversation.key, setup.sample):
        return Skip(
            DecisionKind.SAMPLED_OUT, f"Its conversation is outside of the sample of {setup.sample:g}.", "sample"
        )
    if unit.kind is UnitKind.TURN and GapKind.HISTORY_UNSEEN in unit.turn.gaps:
        # It may be an example in the prompt as well as a turn, and no span of its own could carry the score.
        return Skip(
            DecisionKind.NOT_ASSESSABLE,
            "The turn is known from replayed history only; its own spans never arrived.",
            "history_unseen",
        )
    if not setup.judge_incomplete and _is_incomplete(unit):
        return Skip(DecisionKind.INCOMPLETE, "The end of the turn never arrived.", "turn_incomplete")
    return None


def in_sample(conversation_key: str, share: float) -> bool:
    digest = hashlib.blake2b(conversation_key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") < share * 2.0**64


def _is_incomplete(unit: Unit) -> bool:
    if unit.kind is UnitKind.TURN:
        return unit.turn.status is TurnStatus.INCOMPLETE
    return all(turn.status is TurnStatus.INCOMPLETE for turn in unit.conversation.turns)
