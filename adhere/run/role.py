"""`python -m adhere.run.role NAME [--config FILE]`: the collector or the evaluator, as the supervisor starts it.

`adhere run --role NAME` ends here too. Apart from the command line, whose libraries neither process needs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from adhere.run.quick_start import without_rich

with without_rich():
    import structlog  # noqa: F401 - everything below uses it

from adhere.config import load_config
from adhere.errors import UsageError
from adhere.run.process import run_role
from adhere.run.supervisor import UNFIT


def run_named(name: str, *, config: Path | None) -> int:
    """Until asked to end; the exit code. Loads only what this process needs."""
    try:
        loaded = load_config(config)
    except UsageError as err:
        for line in str(err).splitlines():
            sys.stderr.write(f"Error: {line}\n")
        return UNFIT
    # Its C library writes past our log, a line for every client that fails a TLS handshake, and nothing holds it back.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    if name == "collector":
        from adhere.run.collector import run_collector  # noqa: PLC0415 - one of the two

        return run_role(run_collector, loaded, name=name)
    from adhere.run.evaluator import run_evaluator  # noqa: PLC0415 - same

    return run_role(run_evaluator, loaded, name=name)


def main(arguments: list[str]) -> int:
    match arguments:
        case ["collector" | "evaluator" as name]:
            return run_named(name, config=None)
        case ["collector" | "evaluator" as name, "--config", path]:
            return run_named(name, config=Path(path))
        case _:
            sys.stderr.write("Error: Give collector or evaluator, and --config FILE; people use `adhere run`.\n")
            return UNFIT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
