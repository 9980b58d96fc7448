"""An `OtlpSender` without a network: answers as scripted, holds what it is told to hold."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from collector.telemetry.records import Signal


class ScriptedSender:
    def __init__(self) -> None:
        self.script: deque[Exception | None] = deque()
        """Raised, or for None success, by the next sends."""
        self.decide: Callable[[bytes], Exception | None] = lambda _: None
        """The answer once the script is used up."""
        self.tried: list[bytes] = []
        """Bodies in the order in which sends began."""
        self.sent: list[bytes] = []
        """Bodies that were taken."""
        self.held: dict[bytes, asyncio.Event] = {}
        """Sends of these bodies answer once their event is set."""
        self.closed = False

    async def send(self, signal: Signal, body: bytes) -> None:
        self.tried.append(body)
        answer = self.script.popleft() if self.script else self.decide(body)
        if body in self.held:
            await self.held[body].wait()
        if answer is not None:
            raise answer
        self.sent.append(body)

    async def close(self) -> None:
        self.closed = True
