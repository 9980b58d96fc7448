"""`adhere demo`: see it work."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from adhere.cli.options import command_app

app = command_app()

_NEXT = """
Where to go from here (in a clone, with `uv run` before each)
  adhere run                          run it; receives OTLP on 127.0.0.1:4317 (gRPC) and 127.0.0.1:4318 (HTTP)
  export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318    point an instrumented agent at it
  adhere explain CONVERSATION_ID      what is known about one conversation, and why it was or was not judged
  curl http://127.0.0.1:9464/metrics  scores and health, for Prometheus
"""


@app.command()
def demo(
    judge_url: Annotated[
        str | None,
        typer.Option("--judge-url", help="OpenAI-compatible endpoint for the model evaluators.", show_default=False),
    ] = None,
    model: Annotated[str, typer.Option("--model", help="Model to ask at --judge-url.")] = "gpt-5-mini",
    keep: Annotated[bool, typer.Option("--keep", help="Keep the temporary folder: configuration, log, state.")] = False,  # noqa: FBT002 - a flag
) -> None:
    """Run the real sidecar on recordings of real instrumentations, and show its verdicts as they come.

    Needs no network, no model and no configuration. With OPENAI_API_KEY or --judge-url the model evaluators run too.
    """
    from adhere.demo.demo import run_demo  # noqa: PLC0415 - quick --help

    judge: dict[str, Any] | None = {"base_url": judge_url, "model": model} if judge_url else None
    folder = Path(tempfile.mkdtemp(prefix="adhere-demo-"))
    try:
        asyncio.run(run_demo(folder, judge=judge, environ=os.environ))
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    if keep:
        typer.echo(f"\nKept: {folder} (configuration, log, state).")
    typer.echo(_NEXT)
