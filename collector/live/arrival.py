"""What one batch of records brings for one trace."""

from __future__ import annotations

from dataclasses import dataclass, field

from collector.operation import Operation


@dataclass(slots=True)
class Arrival:
    first_ns: int
    last_ns: int
    operations: list[Operation] = field(default_factory=list)
