"""What judging may cost: amounts of tokens and money, and how much of them a day or a month may see.

Days and months are those of UTC. Money is counted in whole billionths of a US dollar, so that sums stay exact.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal

from evaluators.errors import EvaluatorConfigError

NANO = 1_000_000_000
_DAY_NS = 86_400 * NANO


@dataclass(frozen=True, slots=True)
class Amount:
    nanousd: int = 0
    """0 where the price is not known; a limit in money is then refused in the configuration."""
    tokens: int = 0

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.nanousd - other.nanousd, self.tokens - other.tokens)


@dataclass(frozen=True, slots=True)
class Limit:
    period: Literal["day", "month"]
    unit: Literal["usd", "tokens"]
    amount: int
    """In billionths for money."""

    def of(self, amount: Amount) -> int:
        return amount.nanousd if self.unit == "usd" else amount.tokens

    def shown(self, amount: int) -> str:
        return f"{amount / NANO:.4g} USD" if self.unit == "usd" else f"{amount:,} tokens"

    @property
    def setting(self) -> str:
        return f"judge.budget.{self.unit}_per_{self.period}"


@dataclass(frozen=True, slots=True)
class BudgetConfig:
    usd_per_day: float | None = None
    usd_per_month: float | None = None
    tokens_per_day: int | None = None
    tokens_per_month: int | None = None
    wait: float = 1.0
    """Share of conversations whose units wait for the next day or month once the budget is used up; the others are
    decided at once and never judged.
    """

    def __post_init__(self) -> None:
        for limit in self.limits:
            if limit.amount <= 0:
                raise EvaluatorConfigError(f"{limit.setting} must be above 0.")
        if not 0 <= self.wait <= 1:
            raise EvaluatorConfigError(f"judge.budget.wait is {self.wait} and must be a share from 0 to 1.")

    @property
    def limits(self) -> tuple[Limit, ...]:
        return tuple(self._limits())

    @property
    def is_money(self) -> bool:
        return any(limit.unit == "usd" for limit in self.limits)

    def _limits(self) -> Iterator[Limit]:
        if self.usd_per_day is not None:
            yield Limit("day", "usd", round(self.usd_per_day * NANO))
        if self.usd_per_month is not None:
            yield Limit("month", "usd", round(self.usd_per_month * NANO))
        if self.tokens_per_day is not None:
            yield Limit("day", "tokens", self.tokens_per_day)
        if self.tokens_per_month is not None:
            yield Limit("month", "tokens", self.tokens_per_month)


@dataclass(frozen=True, slots=True)
class Periods:
    """The day and the month of a time, as they are written down."""

    day: str
    month: str

    @classmethod
    def at(cls, now_ns: int) -> Periods:
        return _periods(now_ns // _DAY_NS)

    def of(self, limit: Limit) -> str:
        return self.day if limit.period == "day" else self.month


@lru_cache(maxsize=8)
def _periods(day_number: int) -> Periods:
    date = datetime.fromtimestamp(day_number * _DAY_NS / NANO, UTC)
    return Periods(f"{date:%Y-%m-%d}", f"{date:%Y-%m}")


def renews_in_s(limit: Limit, *, now_ns: int) -> float:
    """Until the next day or month begins."""
    now = datetime.fromtimestamp(now_ns / NANO, UTC)
    start = now.replace(hour=0, minute=0, second=0, microsecond=0)
    days = 1 if limit.period == "day" else calendar.monthrange(now.year, now.month)[1] - now.day + 1
    return (start + timedelta(days=days) - now).total_seconds()
