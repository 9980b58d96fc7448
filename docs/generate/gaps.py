"""The table of gaps: what telemetry may lack, and what to set to have it."""

from __future__ import annotations

from adhere.cli.gap_advice import ADVICE
from collector.model import GapKind
from docs.generate.markdown import code, sentence, table


def gap_table() -> str:
    return table(["gap", "what it means, and the way out"], [[code(gap), sentence(ADVICE[gap])] for gap in GapKind])
