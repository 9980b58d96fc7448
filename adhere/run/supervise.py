"""`python -m adhere.run.supervise SHUTDOWN_S [--config FILE]`: what `adhere run` becomes."""

from __future__ import annotations

import asyncio
import sys

from adhere.run.supervisor import Supervisor

_GRACE_EXTRA_S = 2.0
"""Over the children's own bound, so that they end by themselves before they are killed."""


def main(arguments: list[str]) -> int:
    shutdown_s, options = float(arguments[0]), arguments[1:]
    own = [sys.executable, "-P", "-m", "adhere.run.role"]
    commands = {role: [*own, role, *options] for role in ("collector", "evaluator")}
    return asyncio.run(_supervise(commands, grace_s=shutdown_s + _GRACE_EXTRA_S))


async def _supervise(commands: dict[str, list[str]], *, grace_s: float) -> int:
    return await Supervisor(commands, grace_s=grace_s).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
