"""`adhere reconstruct`: the conversations in recorded telemetry."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import orjson
import typer

from adhere.cli.files import check_files, read_requests
from adhere.cli.options import ConfigOption, TelemetryFiles, command_app
from adhere.cli.progress import progress
from adhere.cli.verdict_text import for_terminal
from adhere.config import load_config
from adhere.run.plan import declared_spans
from collector.assembly.reconstruct import reconstruct as rebuild
from collector.assembly.render import to_json, to_text

app = command_app()


class Format(StrEnum):
    JSONL = "jsonl"
    TEXT = "text"


@app.command()
def reconstruct(
    files: TelemetryFiles,
    format_: Annotated[
        Format, typer.Option("--format", "-f", help="One JSON object a file, or text for people.")
    ] = Format.TEXT,
    config: ConfigOption = None,
) -> None:
    """Rebuild the conversations in recorded telemetry, exactly as `adhere run` does. Each file stands by itself."""
    check_files(files)
    declared = declared_spans(load_config(config)) if config is not None else ()
    with progress("Rebuilding", total=len(files)) as steps:
        for file in files:
            conversations = rebuild(read_requests(file), declared=declared)
            if format_ is Format.JSONL:
                line = {"input": str(file), "conversations": [to_json(one) for one in conversations]}
                sys.stdout.buffer.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
            else:
                typer.echo(for_terminal("\n\n".join(map(to_text, conversations))) or f"No conversation is in {file}.")
            steps.advance()
    sys.stdout.flush()
