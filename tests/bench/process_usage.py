"""CPU time and memory of running processes, from /proc."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_SAMPLE_S = 0.1


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    role: str

    def cpu_s(self) -> float:
        """User and kernel time of all its threads."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_A_SECOND

    def rss_bytes(self) -> int:
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * _PAGE_BYTES


def sidecar_processes(pid: int) -> list[Process]:
    """The process with this id (`adhere run`, or one role of it) and its children, by role."""
    found = [Process(pid, _role(pid))]
    for other in [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]:
        try:
            fields = Path(f"/proc/{other}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # It has ended meanwhile.
        if int(fields[1]) == pid:
            found.append(Process(other, _role(other)))
    return found


def _role(pid: int) -> str:
    arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return next((role for role in ("collector", "evaluator") if role.encode() in arguments), "supervisor")


def cpu_by_role(processes: list[Process]) -> dict[str, float]:
    return {process.role: process.cpu_s() for process in processes}


@dataclass(slots=True)
class MemoryPeaks:
    """The most that each process held, and all of them at one time, while `watch` ran."""

    processes: list[Process]
    total_bytes: int = 0
    by_role: dict[str, int] = field(default_factory=dict)

    def sample(self) -> None:
        now = {process.role: process.rss_bytes() for process in self.processes}
        self.total_bytes = max(self.total_bytes, sum(now.values()))
        for role, size in now.items():
            self.by_role[role] = max(size, self.by_role.get(role, 0))

    async def watch(self) -> None:
        while True:
            self.sample()
            await asyncio.sleep(_SAMPLE_S)
