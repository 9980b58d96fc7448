"""What several views read out of a verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evaluators.verdict import Outcome, Verdict


def threshold_of(verdict: Verdict) -> float | None:
    value = verdict.details.get("threshold")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def passed(verdict: Verdict) -> bool | None:
    """None where there is no score to pass with."""
    return verdict.outcome is Outcome.PASS if verdict.score is not None else None


def tokens(verdict: Verdict) -> tuple[int | None, int | None, int | None]:
    """Input, output, and of that reasoning; None where nobody was asked, or the endpoint does not say."""
    judge = verdict.judge
    if judge.calls == 0 or judge.tokens_estimated:
        return None, None, None
    return judge.input_tokens, judge.output_tokens, judge.reasoning_tokens


def entries(verdict: Verdict, name: str) -> Iterator[Mapping[str, object]]:
    found = verdict.details.get(name)
    for item in found if isinstance(found, list | tuple) else ():
        if isinstance(item, Mapping):
            yield item
