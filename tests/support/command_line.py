"""The `adhere` command as a person calls it: the arguments in, exit code and output back.

`CommandLine` calls `main` in this process, which is quick; `run_adhere` starts a process, for what only one can show.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

from adhere.__main__ import main
from tests.support.running_adhere import NO_JUDGE_FROM_ENVIRONMENT


@dataclass(frozen=True, slots=True)
class Finished:
    code: int
    out: str
    err: str


class CommandLine:
    def __init__(self, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self._patch = patch
        self._capture = capture
        for name in [*NO_JUDGE_FROM_ENVIRONMENT, *(name for name in os.environ if name.startswith("OTEL_"))]:
            patch.delenv(name, raising=False)

    def __call__(self, *arguments: object) -> Finished:
        self._patch.setattr(sys, "argv", ["adhere", *map(str, arguments)])
        self._capture.readouterr()
        code = _exit_code(main)
        captured = self._capture.readouterr()
        return Finished(code, captured.out, captured.err)

    async def beside(self, *arguments: object) -> Finished:
        """The same, while servers on this event loop answer."""
        return await asyncio.to_thread(self, *arguments)


async def run_adhere(*arguments: object, environ: Mapping[str, str] = {}, timeout_s: float = 150.0) -> Finished:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "adhere", *map(str, arguments)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **NO_JUDGE_FROM_ENVIRONMENT, **environ},
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), timeout_s)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise
    return Finished(process.returncode or 0, out.decode(), err.decode())


def _exit_code(call: Callable[[], None]) -> int:
    try:
        call()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
