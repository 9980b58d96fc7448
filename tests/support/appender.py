"""Journals in memory for tests of the receivers: one that collects, one that fails, one that makes its callers wait."""

from __future__ import annotations

import asyncio

from collector.journal.protocol import Position
from collector.telemetry.records import Signal


class CollectingAppender:
    """Keeps what it is given, in order."""

    def __init__(self) -> None:
        self.records: list[tuple[Signal, bytes]] = []

    async def append(self, signal: Signal, body: bytes) -> Position:
        self.records.append((signal, body))
        return Position(0, len(self.records))

    def bodies(self, signal: Signal) -> list[bytes]:
        return [body for found, body in self.records if found is signal]


class FailingAppender(CollectingAppender):
    """Raises `error` while it is set; what it refused is not kept."""

    def __init__(self, error: Exception | None) -> None:
        super().__init__()
        self.error = error
        self.attempts = 0

    async def append(self, signal: Signal, body: bytes) -> Position:
        self.attempts += 1
        if self.error is not None:
            raise self.error
        return await super().append(signal, body)


class BlockingAppender(CollectingAppender):
    """Keeps nothing until `release` is called, as a stalled disk does."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = 0
        self._released = asyncio.Event()

    def release(self) -> None:
        self._released.set()

    async def append(self, signal: Signal, body: bytes) -> Position:
        self.waiting += 1
        try:
            await self._released.wait()
        finally:
            self.waiting -= 1
        return await super().append(signal, body)
