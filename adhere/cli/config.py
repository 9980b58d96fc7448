"""`adhere config`: check a configuration, print its JSON schema."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.options import command_app

app = command_app("Check a configuration, or print its JSON schema.")


@app.command()
def check(
    file: Annotated[Path | None, typer.Argument(help="The YAML configuration; without it, the defaults.")] = None,
) -> None:
    """Say whether a configuration holds, with every problem at once. Opens no port and writes nothing."""
    from adhere.config import load_config  # noqa: PLC0415 - the schema does not need the rest
    from adhere.run.checks import check_plan  # noqa: PLC0415 - same
    from adhere.run.exporting import check_exporters  # noqa: PLC0415 - same
    from collector.clock import SystemClock  # noqa: PLC0415 - same

    config = load_config(file)
    lines = check_plan(config)
    asyncio.run(check_exporters(config, clock=SystemClock(), environ=os.environ))
    for line in lines:
        typer.echo(line)
    typer.echo(f"{file or 'The default configuration'} holds.")


@app.command()
def schema() -> None:
    """Print the JSON schema of the configuration, for editors."""
    from adhere.config import config_schema  # noqa: PLC0415 - quick start

    json.dump(config_schema(), sys.stdout, indent=2)
    sys.stdout.write("\n")
