"""When to try again: what the provider asks for, else exponential back-off; never all callers at once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from random import Random

_FIRST_DELAY_S = 0.5
_MAX_DELAY_S = 20.0


def delay_s(attempt: int, *, retry_after_s: float | None, random: Random) -> float:
    """Before the attempt after `attempt` (from 0). A provider's own wait is kept and spread upwards by a tenth."""
    if retry_after_s is not None:
        return retry_after_s * (1 + 0.1 * random.random())
    ceiling = min(_MAX_DELAY_S, _FIRST_DELAY_S * 2.0 ** min(attempt, 16))
    return ceiling * (0.5 + 0.5 * random.random())


def retry_after_s(headers: Mapping[str, str], *, now_ns: int) -> float | None:
    """`retry-after-ms`, or `Retry-After` in seconds or as a date; None when absent or senseless."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, date.timestamp() - now_ns / 1e9)


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else None
    except ValueError:
        return None
    return number if number is not None and 0 <= number < 1e9 else None
