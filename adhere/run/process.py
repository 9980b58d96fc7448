"""What both processes share: the loop, the log, the end, and what exit code an error becomes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable

import structlog
import uvloop
from prometheus_client import disable_created_metrics

from adhere.config.model import Config
from adhere.errors import UsageError
from adhere.logs import configure_logs
from adhere.run.lifetime import Lifetime
from adhere.run.supervisor import UNFIT
from collector.errors import AdhereError

log = structlog.get_logger(__name__)

Role = Callable[[Config, Lifetime], Awaitable[None]]


def run_role(role: Role, config: Config, *, name: str) -> int:
    """The exit code: 0 after an orderly end, 2 where starting again would not help, 1 otherwise."""
    configure_logs(config.telemetry.logs, role=name)
    disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no types here
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_run(role, config))
    except UsageError as err:
        for line in str(err).splitlines():
            sys.stderr.write(f"Error: {line}\n")
        return UNFIT
    except AdhereError as err:
        log.error("process ended", error=str(err), error_type=type(err).__name__)  # noqa: TRY400 - the sentence says it
        return 1
    except Exception:  # A supervision point: the supervisor starts the process again.
        log.exception("process failed")
        return 1
    return 0


async def _run(role: Role, config: Config) -> None:
    lifetime = Lifetime()
    lifetime.start()
    try:
        await role(config, lifetime)
    finally:
        lifetime.stop()
