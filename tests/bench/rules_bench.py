"""What declared rules and built-in checks cost: CPU of one verdict on conversations of 10, 50 and 200 steps.

    python -m tests.bench.rules_bench [--rounds 200]

One rule of every form and all checks, over cases of eight steps in two turns: an order is looked up and its customer
checked, the agent proposes a refund, the user agrees, it is made and logged. Kept, or with every refund breaking rules.
The least of the rounds and their median are printed. Asserts
nothing.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from evaluators.registry import EvaluatorRequest
from evaluators.rules.factory import make_rules
from evaluators.verdict import Unit, UnitKind
from tests.support.conversations import ConversationBuilder, conversation_unit, turn_unit

_LENGTHS = (10, 50, 200)
_STEPS_A_CASE = 8
_RULES: Sequence[dict[str, object]] = (
    {"before": "issue_refund", "require": "verify", "require_result": {"verified": True}, "same": "customer"},
    {"after": "issue_refund", "require": "log_*", "within": "conversation"},
    {"never": "drop_table"},
    {"never": "issue_refund", "where": {"amount": {"gt": {"result_of": "get_order", "path": "total"}}}},
    {"max_calls": 200},
    {"max_repeats": 3},
    {"confirm": "issue_refund", "mention": "amount"},
    {"provenance": "issue_refund"},
    {"turn": {"latency_s": {"lte": 30}, "steps": {"lte": 20}}},
)


def unit_of(steps: int, *, kind: UnitKind, kept: bool) -> Unit:
    builder = ConversationBuilder(system="You are a shop's agent. Verify customers before refunds. " * 20)
    for case in range(max(1, steps // _STEPS_A_CASE)):
        order, customer, amount = f"B-{2000 + case}", f"C-{100 + case}", 20 + case
        builder.turn(f"Please look at order {order} of customer {customer}; its cover was torn when it came. " * 3)
        builder.call("get_order", {"order_id": order}, result={"total": amount, "items": [{"sku": "X1"}] * 5})
        builder.call("verify", {"customer": customer}, result={"verified": kept})
        builder.answer(f"I have checked order {order}. Shall I refund {amount if kept else 0} EUR to {customer}?")
        builder.turn("Yes, please do that.")
        builder.call("issue_refund", {"order_id": order, "amount": amount, "customer": customer}, result={"ok": True})
        builder.call("log_refund" if kept else "note", {"order_id": order}, result={"ok": True})
        builder.answer(f"I have refunded {amount} EUR for order {order}.")
    conversation = builder.build()
    return conversation_unit(conversation) if kind is UnitKind.CONVERSATION else turn_unit(conversation)


def measure_ms(unit: Unit, *, rounds: int) -> tuple[float, float]:
    """CPU of one verdict: the least and the median."""
    evaluator = make_rules(EvaluatorRequest(name="rules", unit_kind=unit.kind, options={"rules": list(_RULES)}))
    spent: list[float] = []
    for _ in range(rounds):
        began_s = time.process_time()
        evaluator.judge(unit)
        spent.append((time.process_time() - began_s) * 1000)
    return min(spent), statistics.median(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    table = Table(title=f"CPU of one verdict of {len(_RULES)} rules and all checks (ms)")
    for name in ("steps", "unit", "rules", "least", "median"):
        table.add_column(name, justify="right")
    for steps in _LENGTHS:
        for kind in UnitKind:
            for kept in (True, False):
                least, median = measure_ms(unit_of(steps, kind=kind, kept=kept), rounds=rounds)
                table.add_row(str(steps), kind.value, "kept" if kept else "broken", f"{least:.3f}", f"{median:.3f}")
    Console().print(table)


if __name__ == "__main__":
    main()
