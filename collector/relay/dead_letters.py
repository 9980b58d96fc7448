"""Requests that a destination refused for good, kept in a folder of bounded size for someone to look at.

One file a request: the Export*ServiceRequest as protobuf, to be sent again with any HTTP client. Names sort by age;
over the bound the oldest go first. It holds telemetry content, so folder and files are readable by the owner only. It
promises no durability: the folder is for people, the journal is for guarantees.
"""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path

from collector.telemetry.records import Signal

_SUFFIX = ".otlp"


class DeadLetters:
    """Not safe for use from several threads at once."""

    def __init__(self, folder: Path, *, max_bytes: int = 64 << 20) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._next = 0
        self._kept: deque[tuple[Path, int]] | None = None
        self._bytes = 0

    def keep(self, signal: Signal, body: bytes, *, reason: str, received_ns: int) -> int:
        """Write the body and return how many letters were lost for it: older ones, or itself if it is over the bound.

        Raises OSError where the folder cannot be written.
        """
        if len(body) > self._max_bytes:
            return 1
        kept = self._kept if self._kept is not None else self._open()
        lost = 0
        while kept and self._bytes + len(body) > self._max_bytes:
            path, size = kept.popleft()
            path.unlink(missing_ok=True)
            self._bytes -= size
            lost += 1
        # The number comes first, so that names sort by the order of writing whatever the clock did.
        path = self._folder / f"{self._next:012d}-{received_ns}-{signal}-{reason}{_SUFFIX}"
        self._next += 1
        try:
            with open(path, "xb", opener=_private) as file:
                file.write(body)
        except OSError:
            path.unlink(missing_ok=True)
            raise
        kept.append((path, len(body)))
        self._bytes += len(body)
        return lost

    def _open(self) -> deque[tuple[Path, int]]:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = sorted(path for path in self._folder.iterdir() if path.suffix == _SUFFIX and path.is_file())
        kept = deque((path, path.stat().st_size) for path in found)
        numbers = [int(number) for path in found if (number := path.name.partition("-")[0]).isdecimal()]
        self._next = max(numbers, default=-1) + 1
        self._bytes = sum(size for _, size in kept)
        self._kept = kept
        return kept


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)
