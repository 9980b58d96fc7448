"""The bounds on what is in flight: requests and bytes over all connections of both receivers.

Bytes are counted as they arrive, not as they are announced, so a client that announces much and sends little takes
nothing from the others. Over a bound the request that asks is refused and told to come back.
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

from collector.errors import OverloadedError
from collector.otlp.settings import ReceiverLimits


class Admission:
    def __init__(self, limits: ReceiverLimits) -> None:
        self._limits = limits
        self.requests = 0
        self.bytes = 0

    def admit(self) -> Ticket:
        """One request's place; close it in the end. Raises OverloadedError when there is none."""
        if self.requests >= self._limits.max_concurrent_requests:
            raise self._overloaded(f"All {self._limits.max_concurrent_requests} places for requests are taken")
        self.requests += 1
        return Ticket(self)

    def take_bytes(self, count: int) -> None:
        if self.bytes + count > self._limits.max_in_flight_bytes:
            raise self._overloaded(f"Requests in flight hold {self.bytes} bytes")
        self.bytes += count

    def _overloaded(self, what: str) -> OverloadedError:
        return OverloadedError(f"{what}; send the request again later.", retry_after_s=self._limits.retry_after_s)


class Ticket:
    """Gives back what it took when it is closed; closing twice is harmless."""

    __slots__ = ("_admission", "_bytes", "_is_open")

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._bytes = 0
        self._is_open = True

    def resize(self, size: int) -> None:
        """Hold `size` bytes from now on; raises OverloadedError, holding what it held, when they are not there."""
        self._admission.take_bytes(size - self._bytes)
        self._bytes = size

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._admission.bytes -= self._bytes
            self._admission.requests -= 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
