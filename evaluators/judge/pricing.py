"""What a call costs by its tokens, and the most that it may cost before it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.budget import NANO, Amount, BudgetConfig
from evaluators.errors import EvaluatorConfigError
from evaluators.judge.completion import Usage
from evaluators.judge.config import JudgeConfig
from evaluators.judge.prices import LIST_PRICES, Price, cost_usd, price_of
from evaluators.judge.question import Question, Repair

_OVERHEAD_TOKENS = 512
"""For what chat templates and providers put around messages."""


@dataclass(frozen=True, slots=True)
class Pricing:
    price: Price | None

    def usd(self, usage: Usage) -> float | None:
        if self.price is None:
            return None
        return cost_usd(
            self.price,
            input_tokens=usage.input_tokens,
            cached_input_tokens=usage.cached_input_tokens,
            output_tokens=usage.output_tokens,
        )

    def amount(self, usage: Usage) -> Amount:
        return Amount(round((self.usd(usage) or 0.0) * NANO), usage.input_tokens + usage.output_tokens)

    def bound(self, question: Question, repair: Repair | None, *, max_tokens: int) -> Amount:
        """No tokenizer makes more tokens than there are bytes."""
        parts = [question.frame, question.record, question.text, question.schema_text()]
        if repair is not None:
            parts += [message["content"] for message in repair.messages(question)]
        sent = sum(len(part.encode("utf-8", "surrogatepass")) for part in parts)
        return self.amount(Usage(sent + _OVERHEAD_TOKENS, 0, max_tokens))


def check_budget(budget: BudgetConfig, judges: Sequence[JudgeConfig]) -> None:
    """Raises `EvaluatorConfigError` for a budget under which a judge could never be asked, or not be counted."""
    for judge in judges:
        price = price_of(judge.model, overrides=judge.prices, list_prices=LIST_PRICES)
        if price is None and budget.is_money:
            raise EvaluatorConfigError(
                f"judge.budget is in USD and the price of {judge.model!r} is not known: set it in judge.prices "
                "(0 for a model of your own), or give the budget in tokens."
            )
        least = Pricing(price).amount(Usage(0, 0, judge.answer_tokens))
        for limit in budget.limits:
            if limit.of(least) > limit.amount:
                raise EvaluatorConfigError(
                    f"{limit.setting} ({limit.shown(limit.amount)}) is below what one answer of {judge.model!r} may "
                    f"take ({limit.shown(limit.of(least))}): raise it, or lower judge.max_output_tokens."
                )
