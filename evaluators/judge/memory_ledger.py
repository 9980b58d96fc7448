"""A ledger for judging without a store: the same call again, within a process, is answered from memory.

Bounded in bytes, least recently used goes first. Nothing is booked: no budget holds without a store.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from evaluators.budget import Amount
from evaluators.judge.ledger import Entry, Opened, Recalled

_ROW_BYTES = 200


class MemoryLedger:
    """May serve judges of several event loops."""

    def __init__(self, *, max_bytes: int = 16 << 20) -> None:
        self._max_bytes = max_bytes
        self._answers: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    async def open(self, key: str, *, bound: Amount) -> Opened:
        with self._lock:
            answer = self._answers.get(key)
            if answer is None:
                return Entry(key, bound, 0)
            self._answers.move_to_end(key)
            return Recalled(answer)

    async def close(self, entry: Entry, *, spent: Amount, answer: bytes | None) -> None:  # noqa: ARG002 - see above
        if answer is None or len(answer) + _ROW_BYTES > self._max_bytes:
            return
        with self._lock:
            self._drop(entry.key)
            self._answers[entry.key] = answer
            self._bytes += len(answer) + _ROW_BYTES
            while self._bytes > self._max_bytes:
                self._drop(next(iter(self._answers)))

    def abandon(self, entry: Entry) -> None:
        """Nothing is booked."""

    async def forget(self, keys: Sequence[str]) -> None:
        with self._lock:
            for key in keys:
                self._drop(key)

    def _drop(self, key: str) -> None:
        known = self._answers.pop(key, None)
        if known is not None:
            self._bytes -= len(known) + _ROW_BYTES
