"""How much the live state keeps, and for how long."""

from __future__ import annotations

from dataclasses import dataclass, field

from collector.live.readiness import ReadinessConfig

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class LiveConfig:
    readiness: ReadinessConfig = field(default_factory=ReadinessConfig)
    retention_s: float = 7 * 24 * 3600
    """Conversations whose last telemetry is older are deleted."""
    max_bytes: int = 2048 * _MIB
    """Bound of the file; above it whole conversations go, the one that was quiet longest first."""
    max_conversation_bytes: int = 32 * _MIB
    """A conversation above this (with all that may belong to it) takes no further telemetry."""
    cache_bytes: int = 32 * _MIB
    """Memory for what was used last, shared by all caches; half as much again for what is being looked at."""
    pending_bytes: int = 16 * _MIB
    """Memory for spans of traces in which no GenAI telemetry was seen so far."""
    pending_age_s: float = 120
    """How long such spans wait for their trace to show GenAI telemetry."""
    read_bytes: int = 4 * _MIB
    """How much of the journal becomes one transaction, about."""
    poison_items: int = 200
    poison_bytes: int = 16 * _MIB
    """Bounds of what is kept of records that cannot be read."""
