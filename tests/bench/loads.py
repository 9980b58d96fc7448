"""Loads for the benchmarks: files of OTLP requests, made and sent by the load tools that lie beside the checkout."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).parents[3] / "shared" / "tools" / "load"


@dataclass(frozen=True, slots=True)
class Shape:
    """One size of request. Conversations have 10 turns of 4 spans, and each turn replays the history."""

    name: str
    spans: int
    """In each request."""
    genai: float
    """Share of them that are GenAI spans."""
    content_bytes: int
    """Mean message text of a GenAI span."""
    requests: int
    """Enough for a second or two of work."""


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("a1-1k", spans=1, genai=1.0, content_bytes=1024, requests=4000),
        Shape("a10-1k", spans=10, genai=1.0, content_bytes=1024, requests=1000),
        Shape("a50-1k", spans=50, genai=1.0, content_bytes=1024, requests=400),
        Shape("a50-8k", spans=50, genai=1.0, content_bytes=8192, requests=160),
        Shape("b512-1k", spans=512, genai=0.1, content_bytes=1024, requests=160),
        Shape("b512-8k", spans=512, genai=0.1, content_bytes=8192, requests=80),
    )
}


@dataclass(frozen=True, slots=True)
class Load:
    file: Path
    requests: int
    spans: int
    request_bytes: int

    def bodies(self) -> list[bytes]:
        data, found, offset = self.file.read_bytes(), [], 0
        while offset < len(data):
            start = offset + 4
            offset = start + int.from_bytes(data[offset:start], "little")
            found.append(data[start:offset])
        return found


def missing_tools() -> str | None:
    """Why no load can be made here, if so."""
    absent = [name for name in ("make_load.py", "send.py") if not (TOOLS / name).is_file()]
    return f"The load tools {', '.join(absent)} are not in {TOOLS}." if absent else None


def make_load(
    shape: Shape,
    folder: Path,
    *,
    requests: int | None = None,
    turns: int = 10,
    fresh: bool = False,
    open_at_once: int = 20,
) -> Load:
    """With `fresh`, `content_bytes` is the new text of a turn, whatever is replayed."""
    wanted = requests or shape.requests
    file = folder / f"{shape.name}-{wanted}-{turns}.otlp"
    if not file.exists():
        command = [
            sys.executable, str(TOOLS / "make_load.py"), "--out", str(file), "--requests", str(wanted),
            "--spans", str(shape.spans), "--genai", str(shape.genai), "--content", str(shape.content_bytes),
            "--turns", str(turns), "--content-mode", "fresh" if fresh else "mean", "--open", str(open_at_once),
        ]  # fmt: skip
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=300)
    meta = json.loads(file.with_name(f"{file.name}.json").read_text())
    return Load(file, requests=wanted, spans=meta["total_spans"], request_bytes=meta["bytes_per_request"])


def send_command(load: Load, *, protocol: str, port: int, connections: int, rate: float = 0) -> list[str]:
    """Each request once; with a rate (requests a second) at fixed times, else as fast as they are answered."""
    command = [
        sys.executable, str(TOOLS / "send.py"), "--proto", protocol, "--port", str(port), "--file", str(load.file),
        "--conns", str(connections), "--once", "--seconds", "120",
    ]  # fmt: skip
    return command + (["--rate", str(rate)] if rate else [])


def sent(output: bytes) -> dict[str, Any]:
    """What the sender says of its run."""
    result: dict[str, Any] = json.loads(output)
    if result["errors"] or result["rejected"] or result["unsent"]:
        raise RuntimeError(f"The load was not taken whole: {result}.")
    return result
