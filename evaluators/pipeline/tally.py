"""What a transaction has decided, to be counted once it is on disk."""

from __future__ import annotations

from dataclasses import dataclass

from evaluators.verdict import DecisionKind


@dataclass(frozen=True, slots=True)
class Tally:
    """`kind` None: nothing was to be done."""

    evaluator: str
    kind: DecisionKind | None
    code: str = ""
    is_final: bool = True
