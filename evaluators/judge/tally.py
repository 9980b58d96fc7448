"""What one question has cost so far, over all its calls."""

from __future__ import annotations

from dataclasses import dataclass, field

from evaluators.judge.completion import Completion, Usage
from evaluators.judge.pricing import Pricing
from evaluators.verdict import JudgeInfo


@dataclass(slots=True)
class Tally:
    """Mutable, and owned by one question."""

    calls: int = 0
    cached_calls: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int | None = None
    tokens_estimated: bool = False
    finish_reason: str | None = None
    answered_by: str | None = None
    """Of the last answer; see `Completion.model`."""
    keys: list[str] = field(default_factory=list)
    """Of the calls that were answered, now or before."""

    def add(self, completion: Completion, usage: Usage) -> None:
        self.answer(completion)
        self.tokens_estimated |= completion.usage is None
        if usage.reasoning_tokens is not None:
            self.reasoning_tokens = (self.reasoning_tokens or 0) + usage.reasoning_tokens
        self.input_tokens += usage.input_tokens
        self.cached_input_tokens += usage.cached_input_tokens
        self.output_tokens += usage.output_tokens

    def answer(self, completion: Completion) -> None:
        """A new one, or one that was kept from before."""
        self.finish_reason = completion.finish_reason
        self.answered_by = completion.model

    def info(self, name: str, *, pricing: Pricing, duration_s: float) -> JudgeInfo:
        return JudgeInfo(
            name=name,
            calls=self.calls,
            cached_calls=self.cached_calls,
            input_tokens=self.input_tokens,
            cached_input_tokens=self.cached_input_tokens,
            output_tokens=self.output_tokens,
            cost_usd=pricing.usd(Usage(self.input_tokens, self.cached_input_tokens, self.output_tokens)),
            duration_s=duration_s,
            reasoning_tokens=self.reasoning_tokens,
            tokens_estimated=self.tokens_estimated,
            finish_reason=self.finish_reason,
        )
