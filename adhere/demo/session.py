"""One showing: what is sent, what is expected, and what came of it."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from pathlib import Path

from rich.console import Console
from rich.live import Live

from adhere.config import load_config
from adhere.demo.board import Board, Result
from adhere.demo.recordings import Recording, bundled
from adhere.demo.sidecar import Sidecar
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
_WITHOUT_JUDGE_S = 60.0
_WITH_JUDGE_S = 180.0
_WIDTH = 118
"""Where the output is no terminal."""


class Session:
    def __init__(self, config: Path, *, asks_a_model: bool) -> None:
        self._console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
        self._console.print("Starting Adhere on free loopback ports ...")
        self._log = config.parent / "adhere.log"
        self._verdicts = config.parent / "data" / "verdicts.jsonl"
        self._asks_a_model = asks_a_model
        self._recordings = bundled()
        entries = [(entry.name, entry.options) for entry in load_config(config).evaluators]
        setups = make_setups(entries, registry=EvaluatorRegistry(), judge=None)
        conversations = [one for recording in self._recordings for one in recording.conversations]
        self._expected = len(jobs_of(conversations, setups))
        self._board = Board(self._recordings, [setup.name for setup in setups])

    async def run(self, sidecar: Sidecar) -> None:
        """Send everything and show verdicts until all are there, or time is up."""
        addresses = await sidecar.ready()
        where = f"OTLP/gRPC {addresses.grpc} · OTLP/HTTP {addresses.http} · /metrics {addresses.telemetry}"
        self._console.print(f"Ready: {where}")
        for number, recording in enumerate(self._recordings):
            await _send(recording, addresses, over_grpc=bool(number % 2))
        self._console.print(
            f"Sent the telemetry of {len(self._recordings)} agents. A turn is judged once it was quiet for a moment."
        )
        deadline_s = _WITH_JUDGE_S if self._asks_a_model else _WITHOUT_JUDGE_S
        with Live(self._board.table(), console=self._console, auto_refresh=False) as live:
            try:
                async with asyncio.timeout(deadline_s):
                    await self._watch(live)
            except TimeoutError:
                missing = self._expected - len(self._board.results)
                self._console.print(f"{missing} of {self._expected} verdicts did not come within {deadline_s:g} s.")
            live.update(self._board.table(), refresh=True)

    def conclude(self) -> None:
        """What was found. Raises CommandError when the known fault is not among it."""
        self._console.print()
        self._console.print(self._board.findings())
        if not any(flag["evaluator"] == "rules" for flag in self._board.flags):
            raise CommandError(f"The refund without an identity check was not flagged; see {self._log}.")
        if not self._asks_a_model:
            self._console.print(
                "\n[dim]-[/dim]  not assessable, since no judge is configured. With OPENAI_API_KEY set, or"
            )
            self._console.print("   --judge-url for any OpenAI-compatible server, the model evaluators answer as well.")

    async def _watch(self, live: Live) -> None:
        while len(self._board.results) < self._expected:
            await asyncio.sleep(_POLL_S)
            self._board.add(_read(self._verdicts))
            live.update(self._board.table(), refresh=sys.stdout.isatty())


async def _send(recording: Recording, addresses: Addresses, *, over_grpc: bool) -> None:
    if over_grpc:
        destination = Destination(endpoint=f"http://{addresses.grpc}", protocol="grpc", name="demo")
    else:
        destination = Destination(endpoint=f"http://{addresses.http}", protocol="http/protobuf", name="demo")
    sender = open_sender(destination)
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
