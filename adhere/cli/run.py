"""`adhere run`: the sidecar."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import Annotated

import typer

from adhere.cli.options import ConfigOption, command_app

app = command_app()


class RoleName(StrEnum):
    ALL = "all"
    COLLECTOR = "collector"
    EVALUATOR = "evaluator"


@app.command()
def run(
    config: ConfigOption = None,
    role: Annotated[
        RoleName, typer.Option(help="`all` starts and supervises both processes; the others are one of them alone.")
    ] = RoleName.ALL,
) -> None:
    """Run the sidecar: receive OTLP, relay it, rebuild conversations, judge them, give the scores back.

    Receives on 127.0.0.1:4317 (gRPC) and 127.0.0.1:4318 (HTTP); metrics and probes are on 127.0.0.1:9464. SIGTERM
    drains and exits with 0 within 25 s.
    """
    from adhere.run.quick_start import without_rich  # noqa: PLC0415 - only what is needed is loaded

    with without_rich():
        import structlog  # noqa: F401, PLC0415 - the evaluators that are checked use it
    from adhere.config import load_config  # noqa: PLC0415 - same
    from adhere.run.checks import check_plan  # noqa: PLC0415 - same

    loaded = load_config(config)
    check_plan(loaded)
    if role is RoleName.ALL:
        from adhere.run.data_dir import DataDir  # noqa: PLC0415 - same
        from adhere.run.role_lock import check_free  # noqa: PLC0415 - same

        # The children do the same; asked here as well, it is one sentence from one process.
        DataDir(loaded.data_dir).create()
        check_free(loaded.data_dir, RoleName.COLLECTOR, RoleName.EVALUATOR)
        command = [sys.executable, "-P", "-m", "adhere.run.supervise", "--shutdown-s", f"{loaded.shutdown_s:g}"]
        # The supervisor takes this process's place, so that what validation loaded is given back.
        os.execv(sys.executable, [*command, *(["--config", str(config)] if config else [])])  # noqa: S606 - no shell
    from adhere.run.role import run_named  # noqa: PLC0415 - same

    raise typer.Exit(run_named(role.value, config=config))
