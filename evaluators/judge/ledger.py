"""The book that a judge keeps of its calls: what was answered already, and what may still be spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from evaluators.budget import Amount


@dataclass(frozen=True, slots=True)
class Recalled:
    """The call was answered before."""

    answer: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """The call may be made; it ends in exactly one `close` or `abandon`."""

    key: str
    bound: Amount
    opened_ns: int


Opened: TypeAlias = Recalled | Entry


class CallLedger(Protocol):
    async def open(self, key: str, *, bound: Amount) -> Opened:
        """Before a call that costs at most `bound`; raises `JudgeError` when the budget does not hold it."""

    async def close(self, entry: Entry, *, spent: Amount, answer: bytes | None) -> None:
        """The call is over; returns when that is on disk. `answer` None: there is none to be recalled."""

    def abandon(self, entry: Entry) -> None:
        """Nobody saw the end of the call, which may be billed: its booking stays."""

    async def forget(self, keys: Sequence[str]) -> None:
        """The answers to these calls were of no use: asking again shall ask again."""


class NoLedger:
    """For judging without a store: nothing is recalled, and nothing is too expensive."""

    async def open(self, key: str, *, bound: Amount) -> Opened:
        return Entry(key, bound, 0)

    async def close(self, entry: Entry, *, spent: Amount, answer: bytes | None) -> None:
        """Nothing is kept."""

    def abandon(self, entry: Entry) -> None:
        """Nothing is booked."""

    async def forget(self, keys: Sequence[str]) -> None:
        """Nothing was kept."""
