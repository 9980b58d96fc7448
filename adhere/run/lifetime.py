"""When this process should end: on SIGTERM or SIGINT, or when the supervisor that started it is gone.

A second signal ends a process at once. Not one that is supervised: a terminal or an init system may signal it beside
its supervisor, which would look like haste, and it is the supervisor that kills where haste is wanted.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys


class Lifetime:
    """`await ended()` returns when the process is asked to drain."""

    def __init__(self) -> None:
        self._supervised = os.environ.get("ADHERE_SUPERVISED") == "1"
        self._event = asyncio.Event()
        self._watching_stdin = False

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._on_signal)
        if self._supervised:
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
        if self._event.is_set() and not self._supervised:
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
