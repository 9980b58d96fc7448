"""The bundled recordings, and what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from collector.assembly.reconstruct import reconstruct
from collector.model import Conversation
from collector.telemetry.jsonl import read_jsonl
from collector.telemetry.records import Signal

_FOLDER = Path(__file__).with_name("recordings")


@dataclass(frozen=True, slots=True)
class Recording:
    scenario: str
    instrumentation: str
    requests: tuple[tuple[Signal, bytes], ...]
    conversations: tuple[Conversation, ...]


def bundled() -> Sequence[Recording]:
    found = []
    for path in sorted(_FOLDER.glob("*.jsonl")):
        scenario, _, instrumentation = path.stem.partition(".")
        requests = tuple(read_jsonl(path))
        found.append(
            Recording(
                scenario=scenario,
                instrumentation=instrumentation,
                requests=requests,
                conversations=tuple(reconstruct(requests)),
            )
        )
    return found
