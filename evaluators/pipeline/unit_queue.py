"""Submitted units, in order, bounded in items and in bytes; who submits more waits for room."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from evaluators.verdict import Unit


@dataclass(frozen=True, slots=True)
class Submission:
    unit: Unit
    digest: str
    size: int
    submitted_ns: int
    on_settled: Callable[[], None] | None = None


class UnitQueue:
    def __init__(self, *, max_items: int, max_bytes: int) -> None:
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._waiting: deque[Submission] = deque()
        self._held_items = 0
        self._held_bytes = 0
        self._oldest: deque[int] = deque()
        self._changed = asyncio.Condition()

    @property
    def items(self) -> int:
        return self._held_items

    @property
    def bytes(self) -> int:
        return self._held_bytes

    @property
    def oldest_ns(self) -> int | None:
        return self._oldest[0] if self._oldest else None

    async def put(self, submission: Submission) -> None:
        """One that alone is over the bound in bytes still goes in, when nothing else is there."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._has_room(submission.size))
            self._waiting.append(submission)
            self._oldest.append(submission.submitted_ns)
            self._held_items += 1
            self._held_bytes += submission.size
            self._changed.notify_all()

    async def take(self, *, max_items: int) -> list[Submission]:
        """At least one; their room stays taken until `release`."""
        async with self._changed:
            await self._changed.wait_for(lambda: bool(self._waiting))
            return [self._waiting.popleft() for _ in range(min(max_items, len(self._waiting)))]

    async def release(self, taken: list[Submission]) -> None:
        async with self._changed:
            for submission in taken:
                self._held_items -= 1
                self._held_bytes -= submission.size
                self._oldest.popleft()
            self._changed.notify_all()

    async def join(self) -> None:
        """Wait until everything that was put is released."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._held_items == 0)

    def _has_room(self, size: int) -> bool:
        if self._held_items == 0:
            return True
        return self._held_items < self._max_items and self._held_bytes + size <= self._max_bytes
