"""The bounds on what is in flight: requests and bytes over all connections of both receivers.

Bytes are counted as they arrive, not as they are announced, and a request takes its place once it is complete: a client
that announces much and sends little takes nothing from the others. Over a bound the request that asks is refused and
told to come back.
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

    def open(self) -> Ticket:
        """For one request that begins to arrive; close it in the end. Raises OverloadedError when no place is free."""
        self._check_places()
        return Ticket(self)

    def take_place(self) -> None:
        """For a request that is complete. Raises OverloadedError when there is none."""
        self._check_places()
        self.requests += 1

    def take_bytes(self, count: int) -> None:
        if self.bytes + count > self._limits.max_in_flight_bytes:
            raise self._overloaded(f"Requests in flight hold {self.bytes} bytes")
        self.bytes += count

    def _check_places(self) -> None:
        if self.requests >= self._limits.max_concurrent_requests:
            raise self._overloaded(f"All {self._limits.max_concurrent_requests} places for requests are taken")

    def _overloaded(self, what: str) -> OverloadedError:
        return OverloadedError(f"{what}; send the request again later.", retry_after_s=self._limits.retry_after_s)


class Ticket:
    """Gives back what it took when it is closed; closing twice is harmless."""

    __slots__ = ("_admission", "_bytes", "_has_place", "_is_open")

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._bytes = 0
        self._has_place = False
        self._is_open = True

    def take_place(self) -> None:
        """The request is complete and is at work from now on; raises OverloadedError when too many are."""
        self._admission.take_place()
        self._has_place = True

    def resize(self, size: int) -> None:
        """Hold `size` bytes from now on; raises OverloadedError, holding what it held, when they are not there."""
        self._admission.take_bytes(size - self._bytes)
        self._bytes = size

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._admission.bytes -= self._bytes
            self._admission.requests -= self._has_place

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
