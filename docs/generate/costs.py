"""What judging a conversation costs, as the benchmark measures it."""

from __future__ import annotations

from importlib import import_module

from docs.generate.markdown import table

_BENCH = "tests.bench.growing_conversation_bench"


def cost_table(kind: str) -> str:
    measured = import_module(_BENCH).costs(kind)  # Of the tests, which are not typed.
    rows = [
        [str(turns), f"{cost.once:,}", f"{cost.each_turn:,}", f"{cost.each_turn_whole:,}"]
        for turns, cost in measured.items()
    ]
    return table(
        ["turns", "judged once", "judged after each turn, in all", "the same, reading the whole each time"], rows
    )


def rubric_costs() -> str:
    bench = import_module(_BENCH)
    rows = [[f"`{kind}`", *(f"{tokens:,}" for tokens in bench.once(kind).values())] for kind in bench.RUBRICS]
    return table(["evaluator", *(f"{turns} turns" for turns in bench.TURNS)], rows)
