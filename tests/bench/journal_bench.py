"""What a durable append costs: group size, requests a second, and CPU a request, by how many clients wait at once.

    python -m tests.bench.journal_bench [--seconds 1.0] [--body-bytes 155000] [--directory DIR]

Bodies are text-like (zstd level 1 makes a quarter of them), as 50-span requests of 1 KiB messages are. CPU is the
whole process, kernel part included. The first rows are the floor: the same bytes written and synced without a journal.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import get_args

import structlog
import uvloop
from prometheus_client import CollectorRegistry
from rich.console import Console
from rich.table import Table

from collector.clock import SystemClock
from collector.journal.metrics import JournalMetrics
from collector.journal.reader import JournalReader
from collector.journal.settings import Compression, JournalSettings
from collector.journal.writer import JournalWriter
from collector.telemetry.records import Signal

_CLIENTS = (1, 8, 32)
_FLOOR_GROUPS = (1, 8)


@dataclass(frozen=True, slots=True)
class Result:
    what: str
    clients: int
    requests: int
    groups: float
    seconds: float
    cpu_s: float
    latencies_s: list[float]
    stored_share: float = 1.0


def make_bodies(size: int) -> list[bytes]:
    random = Random(1)
    words = [bytes(random.choices(b"abcdefghijklmnopqrstuvwxyz", k=random.randint(2, 10))) for _ in range(80)]
    return [b" ".join(random.choices(words, k=size // 6))[:size].ljust(size, b".") for _ in range(16)]


def measure_floor(directory: Path, bodies: list[bytes], *, group: int, seconds: float) -> Result:
    fd = os.open(directory / "floor", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    requests, offset, latencies = 0, 0, []
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    while time.perf_counter() - began_s < seconds:
        sent_s = time.perf_counter()
        offset += os.pwritev(fd, [bodies[(requests + index) % len(bodies)] for index in range(group)], offset)
        os.fdatasync(fd)
        latencies.append(time.perf_counter() - sent_s)
        requests += group
    elapsed_s, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
    os.close(fd)
    return Result("write + fdatasync", group, requests, requests / group, elapsed_s, cpu_s, latencies)


async def measure_appends(
    directory: Path, bodies: list[bytes], *, clients: int, compression: Compression, seconds: float
) -> Result:
    registry = CollectorRegistry()
    settings = JournalSettings(directory, max_bytes=4 << 30, compression=compression)
    writer = JournalWriter(settings, cursors=["reader"], clock=SystemClock(), metrics=JournalMetrics(registry))
    await writer.start()
    latencies: list[float] = []
    began_s, began_cpu_s = time.perf_counter(), time.process_time()

    async def send(first: int) -> None:
        index = first
        while time.perf_counter() - began_s < seconds:
            sent_s = time.perf_counter()
            await writer.append(Signal.TRACES, bodies[index % len(bodies)])
            latencies.append(time.perf_counter() - sent_s)
            index += 1

    async with asyncio.TaskGroup() as tasks:
        for client in range(clients):
            tasks.create_task(send(client))
    elapsed_s, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
    await writer.close(deadline_s=30)
    groups = registry.get_sample_value("adhere_journal_group_records_count") or 1
    stored = registry.get_sample_value("adhere_journal_stored_bytes_total") or 0
    return Result(
        f"append, zstd {compression}",
        clients,
        len(latencies),
        groups,
        elapsed_s,
        cpu_s,
        latencies,
        stored / (len(latencies) * len(bodies[0])),
    )


def measure_reads(directory: Path, *, seconds: float, body_bytes: int) -> Result:
    reader = JournalReader(directory, "reader", clock=SystemClock(), metrics=JournalMetrics(CollectorRegistry()))
    requests, reads, latencies = 0, 0, []
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    while time.perf_counter() - began_s < seconds:
        sent_s = time.perf_counter()
        records = reader.read(max_bytes=8 * body_bytes)
        if not records:
            break
        latencies.append(time.perf_counter() - sent_s)
        requests += len(records)
        reads += 1
    elapsed_s, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
    reader.close()
    return Result("read", 1, requests, max(reads, 1), elapsed_s, cpu_s, latencies)


def print_table(results: list[Result]) -> None:
    table = Table("what", "clients", "group", "req/s", "CPU us/req", "p50 ms", "p99 ms", "stored")
    for result in results:
        ordered = sorted(result.latencies_s) or [0.0]
        table.add_row(
            result.what,
            str(result.clients),
            f"{result.requests / result.groups:.1f}",
            f"{result.requests / result.seconds:,.0f}",
            f"{result.cpu_s / max(result.requests, 1) * 1e6:.0f}",
            f"{ordered[len(ordered) // 2] * 1e3:.1f}",
            f"{ordered[int(len(ordered) * 0.99)] * 1e3:.1f}",
            f"{result.stored_share:.0%}",
        )
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure durable appends.")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row")
    parser.add_argument("--body-bytes", type=int, default=155_000)
    parser.add_argument("--directory", type=Path, help="on the disk to be measured; the default is a temporary one")
    options = parser.parse_args()
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    bodies = make_bodies(options.body_bytes)
    results: list[Result] = []
    with tempfile.TemporaryDirectory(dir=options.directory) as name:
        scratch = Path(name)
        results.extend(measure_floor(scratch, bodies, group=group, seconds=options.seconds) for group in _FLOOR_GROUPS)
        for compression in get_args(Compression):
            for clients in _CLIENTS:
                journal = scratch / f"{compression}-{clients}"
                appends = measure_appends(
                    journal, bodies, clients=clients, compression=compression, seconds=options.seconds
                )
                results.append(uvloop.run(appends))
            results.append(measure_reads(journal, seconds=options.seconds, body_bytes=options.body_bytes))
    print_table(results)


if __name__ == "__main__":
    main()
