"""An endpoint that sends only what a budget still holds.

It stands behind the answers that were kept: these were paid for by the run that asked for them, and a budget that is
used up does not keep them back.
"""

from __future__ import annotations

from evaluators.budget import Amount
from evaluators.judge.caller import Endpoint
from evaluators.judge.completion import Completion, usage_of
from evaluators.judge.errors import JudgeError
from evaluators.judge.ledger import CallLedger, Recalled
from evaluators.judge.pricing import Pricing
from evaluators.judge.question import Question, Repair


class BudgetedEndpoint:
    def __init__(self, inner: Endpoint, ledger: CallLedger, pricing: Pricing) -> None:
        """Owns `inner`. `ledger` keeps no answers."""
        self._inner = inner
        self._ledger = ledger
        self._pricing = pricing

    async def complete(self, question: Question, *, repair: Repair | None, max_tokens: int) -> Completion:
        bound = self._pricing.bound(question, repair, max_tokens=max_tokens)
        entry = await self._ledger.open(question.name, bound=bound)
        if isinstance(entry, Recalled):
            raise TypeError("A ledger that keeps answers was given to an endpoint that keeps none.")
        spent: Amount | None = None
        try:
            completion = await self._inner.complete(question, repair=repair, max_tokens=max_tokens)
            spent = self._pricing.amount(usage_of(completion, prompt=question.frame + question.record + question.text))
        except JudgeError as err:
            spent = None if err.may_be_billed else Amount()
            raise
        finally:
            if spent is None:
                self._ledger.abandon(entry)
            else:
                await self._ledger.close(entry, spent=spent, answer=None)
        return completion

    async def close(self) -> None:
        await self._inner.close()
