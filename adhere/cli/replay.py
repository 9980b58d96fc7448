"""`adhere replay`: send recorded telemetry to any OTLP endpoint."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from adhere.cli.files import check_files, read_requests
from adhere.cli.options import TelemetryFiles, command_app
from adhere.cli.progress import progress
from adhere.config.receiving import OtlpDestinationConfig
from adhere.errors import CommandError
from adhere.run.destinations import destination
from collector.clock import SystemClock
from collector.relay.replay import REPLAY_POLICY, ReplayResult
from collector.relay.replay import replay as send_all
from collector.relay.senders import open_sender
from collector.telemetry.records import Signal

app = command_app()


class Protocol(StrEnum):
    GRPC = "grpc"
    HTTP = "http/protobuf"


@app.command()
def replay(
    files: TelemetryFiles,
    endpoint: Annotated[
        str,
        typer.Option(
            "--endpoint",
            "-e",
            help="Where to send, such as http://127.0.0.1:4318.",
            envvar="OTEL_EXPORTER_OTLP_ENDPOINT",
        ),
    ],
    protocol: Annotated[
        Protocol | None, typer.Option(help="Without it, gRPC for port 4317 and HTTP otherwise.", show_default=False)
    ] = None,
    retry_for_s: Annotated[
        float, typer.Option("--retry-for", help="How long one request is tried again (seconds).", min=0)
    ] = 30.0,
) -> None:
    """Send recorded telemetry, request by request and in order, to any OTLP endpoint.

    Headers, compression, timeout and certificates come from OTEL_EXPORTER_OTLP_*. Exit code 1 if anything was refused.
    """
    check_files(files)
    total = sum(_count_lines(file) for file in files)
    with progress("Sending", total=total) as steps:
        result = asyncio.run(_replay(files, endpoint, protocol, retry_for_s, steps.advance))
    typer.echo(f"{result.sent} requests sent ({result.sent_bytes} bytes), {result.refused} refused.")
    if result.stopped_by is not None:
        raise CommandError(f"The replay to {endpoint} ended early: {result.stopped_by}")
    if result.refused:
        raise CommandError(f"{endpoint} refused {result.refused} requests; the first: {result.first_refusal}")


def _count_lines(file: Path) -> int:
    with file.open("rb") as lines:
        return sum(1 for line in lines if line.strip())


async def _replay(
    files: Sequence[Path],
    endpoint: str,
    protocol: Protocol | None,
    retry_for_s: float,
    on_progress: Callable[[], None],
) -> ReplayResult:
    settings = OtlpDestinationConfig(endpoint=endpoint, protocol=protocol.value if protocol else None)
    sender = open_sender(destination(settings, name="replay", path="--endpoint", environ=os.environ))

    def requests() -> Iterator[tuple[Signal, bytes]]:
        for file in files:
            yield from read_requests(file)

    try:
        return await send_all(
            requests(),
            sender,
            clock=SystemClock(),
            rng=random.Random(),  # noqa: S311 - spreads retries, keeps no secret
            policy=replace(REPLAY_POLICY, max_elapsed_s=retry_for_s),
            on_progress=lambda _: on_progress(),
        )
    finally:
        await sender.close()
