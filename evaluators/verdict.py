"""The vocabulary of judging: units, outcomes, decisions, evidence, verdicts.

An error or a skip is never a score: only the outcomes `pass` and `fail` carry one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from collector.model import Conversation, Turn


class UnitKind(StrEnum):
    TURN = "turn"
    CONVERSATION = "conversation"


@dataclass(frozen=True, slots=True)
class Unit:
    """What is judged: one turn (with the conversation up to it as context), or a conversation at a revision."""

    kind: UnitKind
    conversation: Conversation
    """For a turn: the conversation up to and including it."""
    turn_index: int
    """The turn that is judged; for a conversation, its last turn."""
    revision: int = 0
    """Grows by one with each change of the unit's content."""
    ended: bool = False
    """The application said that the conversation is over: it is worth a look at the whole."""

    @property
    def turn(self) -> Turn:
        """The turn that the scores belong to."""
        return self.conversation.turns[self.turn_index]

    @property
    def key(self) -> str:
        """Names the unit whatever its revision."""
        if self.kind is UnitKind.TURN:
            return f"turn:{self.conversation.key}:{self.turn.trace_id}:{self.turn.span_id}"
        return f"conversation:{self.conversation.key}"


class Outcome(StrEnum):
    PASS = "pass"  # noqa: S105 - an outcome, not a password
    FAIL = "fail"
    ABSTAIN = "abstain"
    NOT_ASSESSABLE = "not_assessable"
    ERROR = "error"


class DecisionKind(StrEnum):
    """Why a unit was or was not judged. Each unit x evaluator has exactly one current decision."""

    JUDGED = "judged"
    SAMPLED_OUT = "sampled_out"
    FILTERED = "filtered"
    INCOMPLETE = "incomplete"
    NOT_ASSESSABLE = "not_assessable"
    DEFERRED_BUDGET = "deferred_budget"
    JUDGE_DOWN = "judge_down"
    FAILED = "failed"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where in the conversation, and the exact words; checked by code before a verdict is accepted."""

    turn: int
    """Index of the turn."""
    step: int | None
    """Index of the step within the turn; None: the user input or the output."""
    quote: str
    span_id: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeInfo:
    """Who answered, and what it took."""

    name: str
    """The model, or `builtin` for the deterministic checks."""
    calls: int = 0
    """HTTP attempts that were made; 0 where all answers were kept from before."""
    cached_calls: int = 0
    """Calls whose answers were kept from before, at no cost now."""
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    """None: the price is not known."""
    duration_s: float = 0.0
    reasoning_tokens: int | None = None
    """Of the output tokens; None: the endpoint does not say."""
    tokens_estimated: bool = False
    """The endpoint does not say how many tokens there were; they are our estimate."""
    finish_reason: str | None = None
    """Of the last answer, in the endpoint's words."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer of one evaluator to one unit at one revision."""

    id: str
    """A hash of unit, content, evaluator and the versions of evaluator, rubric and judge."""
    evaluator: str
    evaluator_version: str
    rubric_version: str
    unit_kind: UnitKind
    unit_key: str
    revision: int
    conversation_id: str
    service: str | None
    agent_name: str | None
    agent_version: str | None
    trace_id: str
    span_id: str
    """The target span that the score belongs to."""
    target_end_ns: int
    """End of the target span: a time that is the same however often the verdict is sent."""
    response_id: str | None
    outcome: Outcome
    score: float | None = None
    """0 to 1; None unless the outcome is pass or fail."""
    label: str | None = None
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    error_type: str | None = None
    """Low-cardinality name of what went wrong, when the outcome is `error` or `not_assessable`."""
    details: Mapping[str, object] = field(default_factory=dict)
    """Evaluator's own fields (dimensions, intentions, rules); JSON values only."""
    judge: JudgeInfo = field(default_factory=lambda: JudgeInfo(name="builtin"))
    turn_index: int = 0
    judged_ns: int = 0
    supersedes: str | None = None
    """Id of the verdict on the revision before."""

    @property
    def injection_suspected(self) -> bool:
        """The judge saw text that tries to steer it, or orders in a tool's result; whatever the outcome."""
        return self.details.get("injection_suspected") is True


@dataclass(frozen=True, slots=True)
class Decision:
    """Why a unit was or was not judged by an evaluator."""

    unit_key: str
    evaluator: str
    revision: int
    kind: DecisionKind
    reason: str
    decided_ns: int
    verdict_id: str | None = None
