"""When this process should end: on SIGTERM or SIGINT, or when the supervisor that started it is gone."""

from __future__ import annotations

import asyncio
import os
import signal
import sys


class Lifetime:
    """`await ended()` returns when the process is asked to drain; a second signal ends the process at once."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._watching_stdin = False

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._on_signal)
        if os.environ.get("ADHERE_SUPERVISED") == "1":
            loop.add_reader(sys.stdin.fileno(), self._on_stdin)
            self._watching_stdin = True

    def stop(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
        self._unwatch_stdin()

    async def ended(self) -> None:
        await self._event.wait()

    def _on_signal(self) -> None:
        if self._event.is_set():
            # Everything acknowledged is on disk, so a hurried end loses nothing.
            os._exit(1)
        self._event.set()

    def _on_stdin(self) -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            self._unwatch_stdin()
            self._event.set()

    def _unwatch_stdin(self) -> None:
        if self._watching_stdin:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            self._watching_stdin = False
