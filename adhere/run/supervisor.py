"""Starts the collector and the evaluator as processes of their own, starts a fallen one again, and ends both in order.

A crash of one never touches the other. A child that ends with exit code 2 found its configuration or its machine unfit
(a port taken, a folder not writable): starting it again would not help, so everything ends with that code. The first
SIGTERM or SIGINT asks the children to drain; a second one, or the end of the grace period, kills them: what they
acknowledged is on disk. Children hold the read end of a pipe as standard input and drain by themselves when it closes,
so that none outlives a killed supervisor. They are in process groups of their own: what a terminal sends to the
supervisor's group reaches them through the supervisor only.

Imports the standard library only, since this process does nothing else and should weigh nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

UNFIT = 2
"""Exit code of a child that must not be started again."""


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    first_s: float = 1.0
    max_s: float = 30.0
    healthy_after_s: float = 60.0
    """A child that ran this long starts again with the first delay (seconds)."""

    def delay_s(self, failures: int) -> float:
        return min(self.max_s, self.first_s * 2.0 ** min(failures, 16))


class Supervisor:
    """`await run()` returns the exit code once every child has ended."""

    def __init__(
        self,
        commands: Mapping[str, Sequence[str]],
        *,
        grace_s: float,
        policy: RestartPolicy | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._commands = commands
        self._grace_s = grace_s
        self._policy = policy or RestartPolicy()
        self._say = say or _say
        self._stop = asyncio.Event()
        self._kill = asyncio.Event()
        self._code = 0
        self.processes: dict[str, asyncio.subprocess.Process] = {}

    def stop(self) -> None:
        """Ask for an orderly end; the second call ends everything at once."""
        if self._stop.is_set():
            self._kill.set()
        self._stop.set()

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        try:
            async with asyncio.TaskGroup() as group:
                for name, command in self._commands.items():
                    group.create_task(self._keep(name, command), name=f"supervise {name}")
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)
        return self._code

    async def _keep(self, name: str, command: Sequence[str]) -> None:
        failures = 0
        while not self._stop.is_set():
            started = time.monotonic()
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                env={**os.environ, "ADHERE_SUPERVISED": "1"},
                process_group=0,
            )
            self.processes[name] = process
            code = await self._ended(process)
            if self._stop.is_set():
                return
            if code == UNFIT:
                self._code = UNFIT
                self._stop.set()
                return
            failures = 0 if time.monotonic() - started >= self._policy.healthy_after_s else failures + 1
            delay_s = self._policy.delay_s(max(0, failures - 1))
            self._say(f"The {name} ended with exit code {code}; it starts again in {delay_s:g} s.")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), delay_s)

    async def _ended(self, process: asyncio.subprocess.Process) -> int:
        """Wait for the child; once a stop is asked for, see to it that it ends within the grace period."""
        exited = asyncio.ensure_future(process.wait())
        stopping = asyncio.ensure_future(self._stop.wait())
        try:
            waiting: set[asyncio.Future[Any]] = {exited, stopping}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if not exited.done():
                _signal(process, signal.SIGTERM)
                await self._grace(exited)
            if not exited.done():
                _signal(process, signal.SIGKILL)
            code = await exited
            # A child that is still loading ends by the signal itself; nothing is open then.
            if self._stop.is_set() and self._code == 0 and code not in {0, UNFIT, -signal.SIGTERM}:
                self._code = 1
            return code
        finally:
            stopping.cancel()
            if process.stdin is not None:
                process.stdin.close()
                with contextlib.suppress(ConnectionError):
                    await process.stdin.wait_closed()

    async def _grace(self, exited: asyncio.Future[int]) -> None:
        killing = asyncio.ensure_future(self._kill.wait())
        try:
            waiting: set[asyncio.Future[Any]] = {exited, killing}
            await asyncio.wait(waiting, timeout=self._grace_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            killing.cancel()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)
