"""What one question has cost so far, over all its calls."""

from __future__ import annotations

from dataclasses import dataclass

from evaluators.judge.completion import Completion
from evaluators.judge.prices import Price, cost_usd
from evaluators.transcript.tokens import estimate_tokens
from evaluators.verdict import JudgeInfo


@dataclass(slots=True)
class Tally:
    """Mutable, and owned by one question."""

    calls: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int | None = None
    tokens_estimated: bool = False
    finish_reason: str | None = None

    def add(self, completion: Completion, *, prompt: str) -> None:
        """Where an endpoint does not count, we do: a budget must hold with it too."""
        self.finish_reason = completion.finish_reason
        if completion.usage is not None:
            if completion.usage.reasoning_tokens is not None:
                self.reasoning_tokens = (self.reasoning_tokens or 0) + completion.usage.reasoning_tokens
            self.input_tokens += completion.usage.input_tokens
            self.cached_input_tokens += completion.usage.cached_input_tokens
            self.output_tokens += completion.usage.output_tokens
        else:
            self.tokens_estimated = True
            self.input_tokens += estimate_tokens(prompt)
            self.output_tokens += estimate_tokens(completion.content)

    def info(self, name: str, *, price: Price | None, duration_s: float) -> JudgeInfo:
        cost = (
            cost_usd(
                price,
                input_tokens=self.input_tokens,
                cached_input_tokens=self.cached_input_tokens,
                output_tokens=self.output_tokens,
            )
            if price is not None
            else None
        )
        return JudgeInfo(
            name=name,
            calls=self.calls,
            input_tokens=self.input_tokens,
            cached_input_tokens=self.cached_input_tokens,
            output_tokens=self.output_tokens,
            cost_usd=cost,
            duration_s=duration_s,
            reasoning_tokens=self.reasoning_tokens,
            tokens_estimated=self.tokens_estimated,
            finish_reason=self.finish_reason,
        )
