"""How asking a judge can fail. None of it is ever a score.

JudgeError                no usable answer; carries its type, whether it may succeed later, and what it cost
UnusableAnswerError       one answer that cannot be used; it is repaired once before it becomes a JudgeError
"""

from __future__ import annotations

from enum import StrEnum

from evaluators.verdict import JudgeInfo


class JudgeErrorType(StrEnum):
    """Low-cardinality names, as they stand in `error.type` and in metrics."""

    TIMEOUT = "timeout"
    """The deadline passed."""
    RATE_LIMITED = "rate_limited"
    QUOTA_EXHAUSTED = "quota_exhausted"
    SERVER_ERROR = "server_error"
    CONNECTION = "connection"
    UNAUTHORIZED = "unauthorized"
    REJECTED = "rejected"
    """The endpoint does not take the request, in any form that we know."""
    TOO_LONG = "too_long"
    """The request is over the model's context."""
    REFUSED = "refused"
    """The model or a content filter declined to answer."""
    MALFORMED = "malformed"
    TRUNCATED = "truncated"
    EVIDENCE = "evidence"
    """The answer cites what is not in the conversation."""
    BUDGET_EXHAUSTED = "budget_exhausted"
    """Our own budget: nothing was sent."""
    OVER_BUDGET = "over_budget"
    """One call may cost more than the budget ever holds."""
    JUDGE_DOWN = "judge_down"
    """The circuit is open, or the judge is shut down: nothing was sent."""
    UNANSWERED = "unanswered"
    """The request was only written down, for a batch; its answer is not there."""

    @property
    def retryable(self) -> bool:
        """The same unit may get an answer later."""
        return self in _RETRYABLE

    @property
    def transient(self) -> bool:
        """Worth another attempt within the same deadline."""
        return self in _TRANSIENT

    @property
    def means_down(self) -> bool:
        """Counts towards opening the circuit."""
        return self in _MEANS_DOWN

    @property
    def needs_someone(self) -> bool:
        """Does not pass by itself: a key, an account or a setting is wrong."""
        return self in _NEEDS_SOMEONE


_TRANSIENT = frozenset(
    {JudgeErrorType.TIMEOUT, JudgeErrorType.RATE_LIMITED, JudgeErrorType.SERVER_ERROR, JudgeErrorType.CONNECTION}
)
_RETRYABLE = _TRANSIENT | {
    JudgeErrorType.QUOTA_EXHAUSTED,
    JudgeErrorType.UNAUTHORIZED,
    JudgeErrorType.JUDGE_DOWN,
    JudgeErrorType.BUDGET_EXHAUSTED,
}
_NEEDS_SOMEONE = frozenset({JudgeErrorType.QUOTA_EXHAUSTED, JudgeErrorType.UNAUTHORIZED, JudgeErrorType.REJECTED})
_MEANS_DOWN = frozenset(
    {
        JudgeErrorType.TIMEOUT,
        JudgeErrorType.SERVER_ERROR,
        JudgeErrorType.CONNECTION,
        JudgeErrorType.UNAUTHORIZED,
        JudgeErrorType.QUOTA_EXHAUSTED,
    }
)


class JudgeError(Exception):
    """The message never holds content or secrets."""

    def __init__(
        self,
        error_type: JudgeErrorType,
        message: str,
        *,
        retry_after_s: float | None = None,
        may_be_billed: bool = False,
    ) -> None:
        super().__init__(message)
        self.error_type = error_type
        self.retry_after_s = retry_after_s
        self.may_be_billed = may_be_billed
        """The request went out and nobody saw its answer."""
        self.info: JudgeInfo | None = None
        """What was spent before it failed; set by the judge."""
        self.answer: str | None = None
        """The last answer, where there was one that could not be used."""


class UnusableAnswerError(Exception):
    """`problem` is a sentence for the judge, which gets one try to put it right."""

    def __init__(self, problem: str, *, error_type: JudgeErrorType = JudgeErrorType.MALFORMED) -> None:
        super().__init__(problem)
        self.problem = problem
        self.error_type = error_type
