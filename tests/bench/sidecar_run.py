"""One measured run: a real `adhere run` in a fresh folder takes one load, and is watched until it has caught up."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from adhere.run.data_dir import DataDir
from tests.bench.disk_floor import sync_times_ms
from tests.bench.loads import Load, send_command, sent
from tests.bench.process_usage import MemoryPeaks, Process, cpu_by_role, sidecar_processes

_START_S = 60.0
_CATCH_UP_S = 300.0
_POLL_S = 0.1
_METRICS_S = 0.4
"""Reading the metrics costs the evaluator time that the figures would hold."""
_SETTLE_S = 5.0
"""No unit handed over for so long: all are."""

Role = Literal["all", "collector"]


@dataclass(frozen=True, slots=True)
class Scenario:
    load: Load
    shape: str
    protocol: Literal["http", "grpc"] = "http"
    rate: float = 0
    """Requests a second; 0: closed loop."""
    connections: int = 8
    role: Role = "all"
    relay_to: str | None = None
    decide: bool = False
    """Go on until every turn was handed over and decided on by the rules and checks."""

    @property
    def title(self) -> str:
        parts = [f"{self.shape} {self.protocol}"]
        if self.rate:
            parts.append(f"{self.rate:g} req/s")
        parts += ["collector only"] if self.role == "collector" else []
        parts += ["relay"] if self.relay_to else []
        parts += ["decided"] if self.decide else []
        return ", ".join(parts)


@dataclass(slots=True)
class Outcome:
    scenario: Scenario
    sent: dict[str, Any]
    floor_ms: tuple[float, float]
    cpu_s: dict[str, float] = field(default_factory=dict)
    """By role, from the first request until the last one is in the state (and decided on)."""
    visible_s: float = 0.0
    """From the first request until all of them are in the conversation state."""
    rest_bytes: int = 0
    peaks: MemoryPeaks | None = None
    turns: float = 0

    def cpu_us_per_span(self, role: str | None = None) -> float:
        """Of one role, or of all; the same number as CPU seconds for a million spans."""
        seconds = sum(self.cpu_s.values()) if role is None else self.cpu_s.get(role, 0.0)
        return seconds / self.scenario.load.spans * 1e6


async def measure(scenario: Scenario, folder: Path) -> Outcome:
    async with _running(scenario, folder) as (pid, data):
        processes = sidecar_processes(pid)
        await asyncio.sleep(0.5)
        outcome = Outcome(scenario, sent={}, floor_ms=sync_times_ms(folder, size=scenario.load.request_bytes))
        outcome.rest_bytes = sum(process.rss_bytes() for process in processes)
        outcome.peaks = MemoryPeaks(processes)
        watching = asyncio.create_task(outcome.peaks.watch())
        try:
            await _take(scenario, data, processes, outcome)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
    return outcome


async def _take(scenario: Scenario, data: DataDir, processes: list[Process], outcome: Outcome) -> None:
    addresses = data.read_addresses()
    assert addresses is not None
    address = addresses.http if scenario.protocol == "http" else addresses.grpc
    assert address is not None
    port = int(address.rpartition(":")[2])
    command = send_command(
        scenario.load, protocol=scenario.protocol, port=port, connections=scenario.connections, rate=scenario.rate
    )
    before = cpu_by_role(processes)
    began_s = time.monotonic()
    sender = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await sender.communicate()
    outcome.sent = sent(output)
    if scenario.role == "all":
        await _caught_up(data, requests=scenario.load.requests)
    outcome.visible_s = time.monotonic() - began_s
    if scenario.decide:
        outcome.turns = await _decided(data)
    after = cpu_by_role(processes)
    outcome.cpu_s = {role: after[role] - before[role] for role in after}


async def _caught_up(data: DataDir, *, requests: int) -> None:
    async with asyncio.timeout(_CATCH_UP_S):
        while await _evaluator(data, "adhere_live_records_total") < requests:
            await asyncio.sleep(_METRICS_S)
    # The last records are counted inside their transaction.
    batches = await _evaluator(data, "adhere_live_ingest_seconds_count")
    await asyncio.sleep(_METRICS_S)
    async with asyncio.timeout(_CATCH_UP_S):
        while (now := await _evaluator(data, "adhere_live_ingest_seconds_count")) != batches:
            batches = now
            await asyncio.sleep(_METRICS_S)


async def _decided(data: DataDir) -> float:
    """How many turns were handed over and settled, once no more are."""
    turns, since_s = 0.0, time.monotonic()
    async with asyncio.timeout(_CATCH_UP_S):
        while not turns or time.monotonic() - since_s < _SETTLE_S:
            await asyncio.sleep(_METRICS_S)
            now = await _evaluator(data, "adhere_live_units_total", 'kind="turn"')
            if now != turns:
                turns, since_s = now, time.monotonic()
    return turns


async def _evaluator(data: DataDir, family: str, label: str = "") -> float:
    """The sum over the family's samples, asked of the evaluator itself."""
    port = data.read_evaluator_port()
    text = await asyncio.to_thread(_fetch, f"http://127.0.0.1:{port}/metrics")
    samples = re.findall(rf"^{family}(\{{[^}}]*\}})? (\S+)$", text, re.MULTILINE)
    return sum(float(value) for labels, value in samples if label in labels)


def _fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:
        text: bytes = answer.read()
    return text.decode()


@asynccontextmanager
async def _running(scenario: Scenario, folder: Path) -> AsyncIterator[tuple[int, DataDir]]:
    document: dict[str, Any] = {
        "data_dir": str(folder / "data"),
        "receivers": {"grpc": {"endpoint": "127.0.0.1:0"}, "http": {"endpoint": "127.0.0.1:0"}},
        "telemetry": {"endpoint": "127.0.0.1:0", "logs": {"level": "warning", "format": "json"}},
        "relay": [{"endpoint": scenario.relay_to}] if scenario.relay_to else [],
    }
    if scenario.decide:
        document["conversations"] = {"quiet": {"default_s": 1, "min_s": 1, "max_s": 1}}
    config = folder / "adhere.yaml"
    config.write_text(yaml.safe_dump(document))
    environ = {**os.environ, "OPENAI_API_KEY": "", "OPENAI_BASE_URL": "", "OTEL_EXPORTER_OTLP_ENDPOINT": ""}
    command = [sys.executable, "-P", "-m", "adhere", "run", "--config", str(config), "--role", scenario.role]
    with (folder / "adhere.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=log, env=environ)
        try:
            data = DataDir(folder / "data")
            async with asyncio.timeout(_START_S):
                while data.read_addresses() is None or (scenario.role == "all" and data.read_evaluator_port() is None):
                    if process.returncode is not None:
                        raise RuntimeError(f"Adhere did not start:\n{(folder / 'adhere.log').read_text()}")
                    await asyncio.sleep(_POLL_S)
            yield process.pid, data
        finally:
            if process.returncode is None:
                process.terminate()
            try:
                async with asyncio.timeout(30):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
