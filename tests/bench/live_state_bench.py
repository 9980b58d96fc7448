"""What the live state costs: CPU by load shape for each span and each unit handed over, memory for open conversations.

    python -m tests.bench.live_state_bench [--spans 6000] [--conversations 10000] [--load-tool FILE]

One process, no sockets, the journal left out. CPU figures hold for the machine as it is; the first row says how fast
that is (a loop of plain Python), so that runs on a busy machine can be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.support.agent_telemetry import AgentTelemetry
from tests.support.live_state import LiveHarness

CHECKOUT = Path(__file__).parents[2]
SHAPES = {
    "a50-1k": (50, 1.0, 1024),
    "a50-8k": (50, 1.0, 8192),
    "b512-1k": (512, 0.1, 1024),
}
RECORDS_PER_BATCH = 20


@dataclass(frozen=True)
class Load:
    bodies: list[bytes]
    spans: int


def make_load(tool: Path, folder: Path, *, shape: str, spans: int) -> Load:
    size, share, content = SHAPES[shape]
    requests = max(4, spans // size)
    out = folder / f"{shape}.otlp"
    command = [
        sys.executable, str(tool), "--out", str(out), "--requests", str(requests), "--spans", str(size),
        "--genai", str(share), "--content", str(content), "--turns", "10",
    ]  # fmt: skip
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=120)
    data = out.read_bytes()
    bodies = []
    offset = 0
    while offset < len(data):
        (length,) = struct.unpack_from("<I", data, offset)
        bodies.append(data[offset + 4 : offset + 4 + length])
        offset += 4 + length
    return Load(bodies=bodies, spans=json.loads(out.with_name(f"{out.name}.json").read_text())["total_spans"])


def loop_ns() -> float:
    """CPU nanoseconds of one turn of a plain loop; about 40 on a quiet machine of 2024."""
    started = time.process_time_ns()
    total = 0
    for number in range(1_000_000):
        total += number
    return (time.process_time_ns() - started) / 1_000_000


def cpu_of_ingest(load: Load, folder: Path) -> tuple[float, float, float]:
    """CPU us a span to ingest, CPU us a unit to hand over each turn as it ends, bytes on disk a span."""
    live = LiveHarness(folder)
    records = [live.receive(body) for body in load.bodies]
    started = time.process_time()
    for start in range(0, len(records), RECORDS_PER_BATCH):
        live.tracker.ingest(records[start : start + RECORDS_PER_BATCH])
    ingest_s = time.process_time() - started
    asyncio.run(live.advance(10))
    started = time.process_time()
    units = len(live.due())
    due_s = time.process_time() - started
    live.close()
    size = live.path.stat().st_size
    return ingest_s / load.spans * 1e6, due_s / max(1, units) * 1e6, size / load.spans


def rss_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def memory_of_open_conversations(count: int, folder: Path) -> tuple[float, float]:
    """MiB above the base for each 10,000 open conversations, and the base: a warm process with 1,000 of them."""
    live = LiveHarness(folder)

    def open_some(first: int, last: int) -> None:
        for start in range(first, last, 100):
            spans = []
            for number in range(start, min(last, start + 100)):
                agent = AgentTelemetry(f"c{number}", name=f"c{number}")
                spans += agent.turn(f"order {number} " + "about this and that " * 50)
            live.send(*spans)
            del live.journal.records[:-1]

    warm = min(1000, count // 2)
    open_some(0, warm)
    gc.collect()
    base = rss_bytes()
    open_some(warm, count)
    gc.collect()
    grown = rss_bytes() - base
    live.close()
    return grown / (count - warm) * 10_000 / 2**20, base / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=6000)
    parser.add_argument("--conversations", type=int, default=10_000)
    default_tool = CHECKOUT.parent / "shared" / "tools" / "load" / "make_load.py"
    parser.add_argument("--load-tool", type=Path, default=default_tool)
    arguments = parser.parse_args()
    table = Table("what", "figure", "unit")
    table.add_row("plain loop", f"{loop_ns():.0f}", "CPU ns a turn")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.load_tool.is_file():
            for shape in SHAPES:
                load = make_load(arguments.load_tool, folder, shape=shape, spans=arguments.spans)
                own = folder / shape
                own.mkdir()
                ingest_us, unit_us, disk_bytes = cpu_of_ingest(load, own)
                table.add_row(f"{shape}: ingest", f"{ingest_us:.1f}", "CPU us a span")
                table.add_row(f"{shape}: hand over", f"{unit_us:.0f}", "CPU us a turn")
                table.add_row(f"{shape}: disk", f"{disk_bytes:.0f}", "bytes a span")
        own = folder / "memory"
        own.mkdir()
        per_10k, base = memory_of_open_conversations(arguments.conversations, own)
        table.add_row("base, 1,000 open conversations", f"{base:.0f}", "MiB RSS")
        table.add_row("each further 10,000", f"{per_10k:.1f}", "MiB RSS")
    Console().print(table)


if __name__ == "__main__":
    main()
