"""What the whole way costs: a real `adhere run`, real sockets, every request sent once, no judge.

    python -m tests.bench.ingest_bench [--quick] [--only a50-1k] [--rounds 1]

CPU is user and kernel time of Adhere's own processes, from the first request until the last one is in the conversation
state; acknowledgement times stand beside those of a bare fdatasync of the same size, taken just before. On a machine
that others use too only CPU and ratios mean anything: take the least of several rounds. Asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench.loads import SHAPES, Load, make_load, missing_tools
from tests.bench.sidecar_run import Outcome, Scenario, measure
from tests.bench.yardstick import parse_us_per_span
from tests.support.otlp_sink import OtlpSink

_OPEN_LOOP_RATE = 200.0
_OPEN_LOOP_CONNECTIONS = 32
_MIB = 2**20


def scenarios(loads: dict[str, Load], *, quick: bool) -> list[Scenario]:
    found = [Scenario(load, shape) for shape, load in loads.items()]
    if not quick:
        found += [Scenario(load, shape, protocol="grpc") for shape, load in loads.items() if not shape.startswith("b")]
    main = loads.get("a50-1k")
    if main is not None:
        base = Scenario(main, "a50-1k")
        found += [
            replace(base, rate=_OPEN_LOOP_RATE, connections=_OPEN_LOOP_CONNECTIONS),
            replace(base, role="collector"),
            replace(base, decide=True),
        ]
        if not quick:
            found += [
                replace(base, protocol="grpc", rate=_OPEN_LOOP_RATE, connections=_OPEN_LOOP_CONNECTIONS),
                replace(base, relay_to="sink"),
            ]
    return found


async def run(scenario: Scenario) -> Outcome:
    with tempfile.TemporaryDirectory() as name:
        if scenario.relay_to is None:
            return await measure(scenario, Path(name))
        async with OtlpSink() as sink:
            return await measure(replace(scenario, relay_to=sink.http_url), Path(name))


def least(outcomes: list[Outcome]) -> Outcome:
    return min(outcomes, key=Outcome.cpu_us_per_span)


def as_table(outcomes: list[Outcome]) -> Table:
    table = Table(
        "run", "spans/s acked", "visible", "CPU-s/Mspan", "collector", "evaluator", "ack p50/p99 ms",
        "fdatasync p50/p99", "RSS rest", "RSS peak MiB", "us/turn",
    )  # fmt: skip
    for outcome in outcomes:
        sent, peaks = outcome.sent, outcome.peaks
        peak = "" if peaks is None else f"{peaks.total_bytes / _MIB:.0f} ({_by_role(peaks.by_role)})"
        table.add_row(
            outcome.scenario.title,
            f"{sent['spans_s']:,}",
            f"{outcome.visible_s:.1f} s",
            f"{outcome.cpu_us_per_span():.1f}",
            f"{outcome.cpu_us_per_span('collector'):.1f}",
            f"{outcome.cpu_us_per_span('evaluator'):.1f}",
            f"{sent['p50_ms']:.1f} / {sent['p99_ms']:.1f}",
            f"{outcome.floor_ms[0]:.1f} / {outcome.floor_ms[1]:.1f}",
            f"{outcome.rest_bytes / _MIB:.0f}",
            peak,
            f"{sum(outcome.cpu_s.values()) / outcome.turns * 1e6:.0f}" if outcome.turns else "",
        )
    return table


def _by_role(sizes: dict[str, int]) -> str:
    return " + ".join(f"{size / _MIB:.0f}" for _, size in sorted(sizes.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="half a minute: two shapes, a third of the requests")
    parser.add_argument("--only", action="append", choices=sorted(SHAPES), help="these shapes only")
    parser.add_argument("--rounds", type=int, default=1, help="rounds, alternating; the least CPU of each run counts")
    parser.add_argument("--loads", type=Path, help="keep the loads here, for the next run")
    options = parser.parse_args()
    reason = missing_tools()
    if reason is not None:
        Console().print(f"Skipped: {reason}")
        return
    wanted = options.only or (["a50-1k", "b512-1k"] if options.quick else list(SHAPES))
    with tempfile.TemporaryDirectory() as name:
        folder = options.loads or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        loads = {
            shape: make_load(
                SHAPES[shape], folder, requests=max(20, SHAPES[shape].requests // 3) if options.quick else None
            )
            for shape in wanted
        }
        planned = scenarios(loads, quick=options.quick)
        outcomes: dict[str, list[Outcome]] = {scenario.title: [] for scenario in planned}
        for _ in range(options.rounds):
            for scenario in planned:
                outcomes[scenario.title].append(asyncio.run(run(scenario)))
                Console(stderr=True).print(f"{scenario.title}: {outcomes[scenario.title][-1].cpu_us_per_span():.1f}")
        yardstick = [(shape, parse_us_per_span(load.bodies())) for shape, load in loads.items()]
    Console(width=200).print(as_table([least(found) for found in outcomes.values()]))
    for shape, us in yardstick:
        Console().print(f"For comparison, protobuf parsing alone at {shape}: {us:.1f} CPU us a span just now.")


if __name__ == "__main__":
    main()
