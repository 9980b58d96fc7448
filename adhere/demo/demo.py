"""The demo itself: start the sidecar, send the recordings, show verdicts as they come, say where to look next."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live

from adhere.demo.board import Board, Result
from adhere.demo.recordings import Recording, bundled
from adhere.demo.sidecar import running, write_config
from adhere.errors import CommandError
from adhere.run.data_dir import Addresses
from collector.clock import SystemClock
from collector.relay.destination import Destination
from collector.relay.replay import replay
from collector.relay.senders import open_sender
from evaluators.offline import jobs_of
from evaluators.pipeline.setup import make_setups
from evaluators.registry import EvaluatorRegistry

_POLL_S = 0.1
_WITHOUT_JUDGE_S = 15.0
_WITH_JUDGE_S = 90.0


async def run_demo(folder: Path, *, judge: Mapping[str, Any] | None, environ: Mapping[str, str]) -> None:
    """Raises CommandError when the sidecar does not come up or the known fault is not flagged in time."""
    console = Console(highlight=False)
    asks_a_model = judge is not None or bool(environ.get("OPENAI_API_KEY"))
    config = write_config(folder, judge=judge)
    recordings = await asyncio.to_thread(bundled)
    evaluators, expected = _expected(config, recordings)
    board = Board(recordings, evaluators)
    verdicts = folder / "data" / "verdicts.jsonl"
    console.print("Starting Adhere on free loopback ports ...")
    async with running(config, environ=environ) as addresses:
        console.print(
            f"OTLP/gRPC on {addresses.grpc}, OTLP/HTTP on {addresses.http}, /metrics on {addresses.telemetry}"
        )
        await _send(recordings, addresses)
        console.print("Sent the telemetry of five agents; verdicts arrive once each turn has been quiet for a moment.")
        deadline_s = _WITH_JUDGE_S if asks_a_model else _WITHOUT_JUDGE_S
        with Live(board.table(), console=console, auto_refresh=False, transient=False) as live:
            try:
                async with asyncio.timeout(deadline_s):
                    while len(board.results) < expected:
                        await asyncio.sleep(_POLL_S)
                        board.add(_read(verdicts))
                        live.update(board.table(), refresh=sys.stdout.isatty())
            except TimeoutError:
                missing = expected - len(board.results)
                console.print(f"{missing} of {expected} verdicts did not come within {deadline_s:g} s.")
            live.update(board.table(), refresh=True)
        console.print(board.findings())
    if not any(flag["evaluator"] == "rules" for flag in board.flags):
        raise CommandError(f"The refund without an identity check was not flagged; see {folder / 'adhere.log'}.")
    if not asks_a_model:
        console.print(
            "\n[dim]-[/dim] not assessable: no judge is configured. Set OPENAI_API_KEY, or --judge-url for any"
            " OpenAI-compatible server, and the model evaluators answer too."
        )


def _expected(config: Path, recordings: Sequence[Recording]) -> tuple[list[str], int]:
    """The evaluators' names, and how many verdicts there will be."""
    from adhere.config import load_config  # noqa: PLC0415 - the configuration is written by then

    entries = [(entry.name, entry.options) for entry in load_config(config).evaluators]
    setups = make_setups(entries, registry=EvaluatorRegistry(), judge=None)
    conversations = [conversation for recording in recordings for conversation in recording.conversations]
    return [setup.name for setup in setups], len(jobs_of(conversations, setups))


async def _send(recordings: Sequence[Recording], addresses: Addresses) -> None:
    """Half over gRPC and half over HTTP, as exporters do."""
    for number, recording in enumerate(recordings):
        address = addresses.grpc if number % 2 else addresses.http
        protocol = "grpc" if number % 2 else "http/protobuf"
        sender = open_sender(Destination(endpoint=f"http://{address}", protocol=protocol, name="demo"))
        try:
            result = await replay(recording.requests, sender, clock=SystemClock(), rng=random.SystemRandom())
        finally:
            await sender.close()
        if result.stopped_by or result.refused:
            raise CommandError(f"Adhere did not take a recording: {result.stopped_by or result.first_refusal}")


def _read(path: Path) -> list[Result]:
    """Whole lines only; the last one may still be written."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
