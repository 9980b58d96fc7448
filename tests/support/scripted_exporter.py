"""An exporter that does what the test says: take, refuse, wait for ever or break."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from evaluators.verdict import Verdict


class ScriptedExporter:
    """`answer` is called with each batch and may raise; what it lets pass is in `delivered`, every try in `tries`."""

    def __init__(self, name: str = "scripted", *, answer: Callable[[Sequence[Verdict]], None] = lambda _: None) -> None:
        self.name = name
        self.answer = answer
        self.hanging = asyncio.Event()
        self.hangs = False
        self.tries: list[list[str]] = []
        self.delivered: list[Verdict] = []
        self.closed = 0

    @property
    def delivered_ids(self) -> list[str]:
        return [verdict.id for verdict in self.delivered]

    async def export(self, verdicts: Sequence[Verdict]) -> None:
        self.tries.append([verdict.id for verdict in verdicts])
        if self.hangs:
            self.hanging.set()
            await asyncio.Event().wait()
        self.answer(verdicts)
        self.delivered += verdicts

    async def close(self) -> None:
        self.closed += 1
