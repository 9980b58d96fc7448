"""The journal's options, each with a default that works."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Compression: TypeAlias = Literal["auto", "always", "never"]
Durability: TypeAlias = Literal["full", "relaxed"]

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class JournalSettings:
    directory: Path
    max_bytes: int = 1024 * MIB
    """Bound of all segments on disk (an empty one of 1 KiB may come on top); over it appends are refused with
    JournalFullError until readers catch up."""
    segment_bytes: int = 64 * MIB
    """A segment is finished at this size (one larger record gets a segment of its own). At most a quarter of max_bytes
    is used, so that a full journal always has finished segments to delete."""
    max_in_flight_bytes: int = 64 * MIB
    """Bodies accepted and not yet on disk; over it appends are refused with OverloadedError."""
    max_in_flight_records: int = 10_000
    max_group_bytes: int = 16 * MIB
    """Most that one write and one sync cover; what is queued beyond it goes into the next group."""
    compression: Compression = "auto"
    """zstd level 1: `auto` compresses while that is quicker than the disk."""
    durability: Durability = "full"
    """`full`: acknowledged after fdatasync, survives power loss. `relaxed`: acknowledged after the write and synced
    every `sync_interval_s`, so that a power loss takes at most what came in that window and during one sync; a process
    kill takes nothing."""
    sync_interval_s: float = 0.2
    collect_interval_s: float = 2.0
    """How often segments that all cursors have passed are looked for."""
    max_aside_bytes: int = 64 * MIB
    """Bound of copies in `corrupt/`; damage beyond it is counted and not kept."""

    def __post_init__(self) -> None:
        for name in (
            "max_bytes",
            "segment_bytes",
            "max_in_flight_bytes",
            "max_in_flight_records",
            "max_group_bytes",
            "sync_interval_s",
            "collect_interval_s",
        ):
            value = getattr(self, name)
            if value <= 0:
                raise ValueError(f"Journal option {name} is {value}; it must be above zero.")
        if self.max_aside_bytes < 0:
            raise ValueError(f"Journal option max_aside_bytes is {self.max_aside_bytes}; it must not be negative.")
        if self.compression not in ("auto", "always", "never"):
            raise ValueError(f"Journal option compression is {self.compression!r}; use auto, always or never.")
        if self.durability not in ("full", "relaxed"):
            raise ValueError(f"Journal option durability is {self.durability!r}; use full or relaxed.")

    @property
    def yield_above_bytes(self) -> int:
        """Above three quarters, yielding readers lose their oldest: what is left is for those that may lose nothing."""
        return self.max_bytes * 3 // 4

    @property
    def effective_segment_bytes(self) -> int:
        return max(1, min(self.segment_bytes, self.max_bytes // 4))
