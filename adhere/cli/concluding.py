"""How `adhere evaluate` ends: with an exit code that a build can go by, and one sentence that says why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from adhere.cli.aggregate import aggregates_of
from adhere.errors import CommandError, IncompleteError
from evaluators.verdict import Outcome, Verdict


def conclude(
    verdicts: Sequence[Verdict], *, rows: int, unread: int, allow_errors: bool, fail_under: float | None
) -> None:
    """Raises IncompleteError where a row or an answer is missing or there is none at all, and CommandError where too
    few verdicts pass. What is missing comes first: without it nobody knows the share that passes.
    """
    missing = None if allow_errors else _missing(verdicts, rows=rows, unread=unread)
    if missing is not None and not verdicts:
        raise IncompleteError(missing)
    too_low = [] if fail_under is None else _too_low(verdicts, fail_under)
    if missing is not None:
        raise IncompleteError("\n".join([missing, *too_low]))
    if too_low:
        raise CommandError("\n".join(too_low))


def _missing(verdicts: Sequence[Verdict], *, rows: int, unread: int) -> str | None:
    if not verdicts and not unread:
        return (
            "Nothing was judged, since the files hold no conversation or no evaluator takes one: check files and "
            "configuration, or accept it with --allow-errors."
        )
    reasons = Counter(verdict.error_type for verdict in verdicts if verdict.outcome is Outcome.ERROR)
    parts = [f"{unread} of {rows} rows could not be read"] if unread else []
    if reasons:
        named = ", ".join(f"{reason or 'unknown'} {count}" for reason, count in reasons.most_common())
        parts.append(f"{reasons.total()} of {len(verdicts)} verdicts are errors ({named})")
    if not parts:
        return None
    return f"{' and '.join(parts)}: mend what is named above and run it again, or accept them with --allow-errors."


def _too_low(verdicts: Sequence[Verdict], least: float) -> list[str]:
    """An evaluator of which nothing has a score is too low as well: a build must not pass for want of a judge."""
    if not verdicts:
        return [f"Nothing was judged, and --fail-under {least:g} wants verdicts: check files and configuration."]
    found: list[str] = []
    for one in aggregates_of(verdicts):
        if one.pass_rate is None:
            found.append(f"No verdict of {one.evaluator} has a score, and --fail-under {least:g} wants one.")
        elif one.pass_rate < least:
            scored = one.outcomes.get(Outcome.PASS, 0) + one.outcomes.get(Outcome.FAIL, 0)
            passed = one.outcomes.get(Outcome.PASS, 0)
            found.append(f"{passed} of {scored} scored verdicts of {one.evaluator} pass, under --fail-under {least:g}.")
    return found
