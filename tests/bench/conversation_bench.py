"""How cost grows with a conversation: replayed history, looks at what is ready, and memory for open conversations.

    python -m tests.bench.conversation_bench [--quick] [--conversations 10000]

Conversations of 20, 100 and 400 turns with 1 KiB of new text a turn, each replaying its whole history, are brought into
the live state in one process without sockets. Two ways: all at once, as after an outage, and turn by turn with a look
after each, as live traffic comes. The wire itself is quadratic; messages decoded and rows kept must not be. Asserts
nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import math
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from collector.live.standard import StandardReconstruction
from collector.messages.decoder import MessageDecoder
from tests.bench.loads import Load, Shape, make_load, missing_tools
from tests.support.agent_telemetry import AgentTelemetry
from tests.support.live_state import LiveHarness

_SPANS_A_TURN = 4
_RECORDS_A_BATCH = 20
_QUIET_S = 10.0


@dataclass(frozen=True, slots=True)
class Length:
    turns: int
    wire_bytes: float
    """A span."""
    decoded: float
    """Messages decoded for each turn."""
    at_once_us: float
    """CPU a span to bring everything in."""
    live_us: float
    """CPU a span, a look after each turn included."""
    disk_bytes: float
    """A turn."""


def one_conversation(folder: Path, *, turns: int) -> Load:
    """One conversation, one turn a request, so that turns arrive in order."""
    shape = Shape(f"t{turns}", spans=_SPANS_A_TURN, genai=1.0, content_bytes=1024, requests=turns)
    return make_load(shape, folder, turns=turns, fresh=True, open_at_once=1)


def measure(load: Load, folder: Path, *, turns: int) -> Length:
    bodies = load.bodies()
    at_once_s, decoded, disk = _at_once(bodies, folder / "at-once")
    return Length(
        turns=turns,
        wire_bytes=sum(map(len, bodies)) / load.spans,
        decoded=decoded / turns,
        at_once_us=at_once_s / load.spans * 1e6,
        live_us=_turn_by_turn(bodies, folder / "live") / load.spans * 1e6,
        disk_bytes=disk / turns,
    )


def _at_once(bodies: list[bytes], folder: Path) -> tuple[float, int, int]:
    folder.mkdir()
    decoder = MessageDecoder()
    live = LiveHarness(folder, reconstruction=StandardReconstruction(decoder=decoder))
    records = [live.receive(body) for body in bodies]
    began_s = time.process_time()
    for start in range(0, len(records), _RECORDS_A_BATCH):
        live.tracker.ingest(records[start : start + _RECORDS_A_BATCH])
    took_s = time.process_time() - began_s
    live.close()
    return took_s, decoder.decoded, live.path.stat().st_size


def _turn_by_turn(bodies: list[bytes], folder: Path) -> float:
    folder.mkdir()
    live = LiveHarness(folder)
    began_s = time.process_time()

    async def run() -> None:
        for body in bodies:
            live.receive(body)
            live.read()
            del live.journal.records[:-1]
            await live.advance(_QUIET_S)
            live.due()

    asyncio.run(run())
    took_s = time.process_time() - began_s
    live.close()
    return took_s


def exponent(first: Length, last: Length, figure: str) -> str:
    """Of the whole conversation's cost in its number of turns: 1 is linear."""
    growth = (getattr(last, figure) * last.turns) / (getattr(first, figure) * first.turns)
    return f"{math.log(growth) / math.log(last.turns / first.turns):.2f}"


def memory_per_10k(count: int, folder: Path) -> tuple[float, float]:
    """MiB that each 10,000 open conversations take above the first tenth of them, and the whole then."""
    live = LiveHarness(folder)
    warm = count // 10

    def open_some(first: int, last: int) -> None:
        for number in range(first, last):
            agent = AgentTelemetry(f"c{number}", name=f"c{number}")
            live.send(*agent.turn(f"order {number} " + "about this and that " * 50))
            del live.journal.records[:-1]

    open_some(0, warm)
    gc.collect()
    base = _rss_bytes()
    open_some(warm, count)
    gc.collect()
    grown = _rss_bytes()
    live.close()
    return (grown - base) / (count - warm) * 10_000 / 2**20, grown / 2**20


def _rss_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def as_table(found: list[Length]) -> Table:
    table = Table(
        "turns", "wire bytes/span", "decoded/turn", "CPU us/span at once", "CPU us/span live", "disk bytes/turn"
    )
    for length in found:
        table.add_row(
            str(length.turns),
            f"{length.wire_bytes:,.0f}",
            f"{length.decoded:.1f}",
            f"{length.at_once_us:.0f}",
            f"{length.live_us:.0f}",
            f"{length.disk_bytes:,.0f}",
        )
    figures = ("wire_bytes", "decoded", "at_once_us", "live_us", "disk_bytes")
    table.add_row("exponent", *(exponent(found[0], found[-1], figure) for figure in figures))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="20 and 100 turns, 1,000 conversations")
    parser.add_argument("--conversations", type=int, default=5000, help="for the memory of open ones")
    options = parser.parse_args()
    reason = missing_tools()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if reason is not None:
            Console().print(f"Lengths skipped: {reason}")
        else:
            found = []
            for turns in (20, 100) if options.quick else (20, 100, 400):
                own = folder / str(turns)
                own.mkdir()
                found.append(measure(one_conversation(folder, turns=turns), own, turns=turns))
            Console(width=140).print(as_table(found))
        memory = folder / "memory"
        memory.mkdir()
        count = 1000 if options.quick else options.conversations
        per_10k, whole = memory_per_10k(count, memory)
        Console().print(
            f"Memory: {per_10k:.1f} MiB for each 10,000 open conversations; {whole:.0f} MiB with {count:,}."
        )


if __name__ == "__main__":
    main()
