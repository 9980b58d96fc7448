"""`adhere evaluate`: judge the conversations in recorded telemetry."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.files import check_files, read_requests
from adhere.cli.options import ConfigOption, TelemetryFiles, command_app
from adhere.cli.progress import progress
from adhere.cli.results_table import print_results, write_results
from adhere.config import Config, load_config
from adhere.errors import ConfigError
from adhere.run.plan import judge_settings, with_judge
from collector.assembly.reconstruct import reconstruct
from collector.clock import SystemClock
from collector.model import Conversation
from evaluators.errors import EvaluatorConfigError
from evaluators.offline import evaluate_all, jobs_of
from evaluators.pipeline.setup import make_setups
from evaluators.registry import EvaluatorRegistry
from evaluators.verdict import Verdict

app = command_app()


@app.command()
def evaluate(
    files: TelemetryFiles,
    config: ConfigOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write every verdict here, as JSON lines.", show_default=False)
    ] = None,
    judge_url: Annotated[
        str | None,
        typer.Option("--judge-url", help="OpenAI-compatible endpoint to ask, such as http://127.0.0.1:11434/v1."),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="Model to ask; over the configuration's.")] = None,
) -> None:
    """Judge the conversations in recorded telemetry with the evaluators of the configuration; nothing needs to run.

    Prints every failure with its evidence and a table of all outcomes. Without a judge the rules and checks run.
    """
    check_files(files)
    loaded = with_judge(load_config(config), judge_url=judge_url, model=model)
    conversations: list[Conversation] = []
    with progress("Rebuilding", total=len(files)) as steps:
        for file in files:
            conversations += reconstruct(read_requests(file))
            steps.advance()
    verdicts = asyncio.run(_evaluate(loaded, conversations))
    if output is not None:
        write_results(verdicts, output)
    print_results(verdicts, conversations=len(conversations))


async def _evaluate(config: Config, conversations: Sequence[Conversation]) -> list[Verdict]:
    clock = SystemClock()
    settings = judge_settings(config, environ=os.environ)
    judge = None
    if settings is not None:
        from evaluators.judge.connect import connect  # noqa: PLC0415 - loads the OpenAI client, which takes a moment

        judge = connect(settings, clock=clock, random=random.SystemRandom())
    try:
        setups = make_setups(
            [(entry.name, entry.options) for entry in config.evaluators], registry=EvaluatorRegistry(), judge=judge
        )
        jobs = jobs_of(conversations, setups)
        verdicts: list[Verdict] = []
        with progress("Judging", total=len(jobs)) as steps:
            async for verdict in evaluate_all(jobs, clock=clock):
                verdicts.append(verdict)
                steps.advance()
    except EvaluatorConfigError as err:
        raise ConfigError(str(err).splitlines()) from err
    finally:
        if judge is not None:
            await judge.shutdown()
    return verdicts
