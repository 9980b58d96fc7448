"""How far a result can be trusted, as far as code can tell: no probability that it is right.

It is the share of the conversation that the judge was shown, times the agreement of several answers where several were
asked for. Deterministic checks have 1. A result without a score has 0.
"""

from __future__ import annotations

from evaluators.circumstances import LONG_INPUT
from evaluators.verdict import Outcome, Verdict


def confidence_of(verdict: Verdict) -> float:
    if verdict.outcome not in (Outcome.PASS, Outcome.FAIL):
        return 0.0
    found = 1.0
    for name in ("coverage", "agreement"):
        share = verdict.details.get(name)
        if isinstance(share, int | float) and not isinstance(share, bool):
            found *= min(1.0, max(0.0, float(share)))
    return round(found, 4)


def is_long_input(verdict: Verdict) -> bool:
    """The input was too long to be shown whole."""
    flags = verdict.details.get("flags")
    return isinstance(flags, list | tuple) and LONG_INPUT in flags
