"""`python -m adhere.run.supervise`: what `adhere run` becomes. Standard library only, as the supervisor."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

from adhere.run.supervisor import RestartPolicy, Supervisor

_GRACE_EXTRA_S = 2.0
"""Over the children's own bound, so that they end by themselves before they are killed."""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m adhere.run.supervise", description="What `adhere run` becomes.")
    parser.add_argument("--shutdown-s", type=float, required=True, help="the children's own bound of an orderly stop")
    parser.add_argument("--restart-max-s", type=float, help="longest wait before a fallen child starts again")
    parser.add_argument("--config", metavar="FILE")
    given = parser.parse_args(arguments)
    options = ["--config", given.config] if given.config else []
    own = [sys.executable, "-P", "-m", "adhere.run.role"]
    commands = {role: [*own, role, *options] for role in ("collector", "evaluator")}
    policy = RestartPolicy() if given.restart_max_s is None else RestartPolicy(max_s=given.restart_max_s)
    return asyncio.run(_supervise(commands, grace_s=given.shutdown_s + _GRACE_EXTRA_S, policy=policy))


async def _supervise(commands: dict[str, list[str]], *, grace_s: float, policy: RestartPolicy) -> int:
    return await Supervisor(commands, grace_s=grace_s, policy=policy).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
