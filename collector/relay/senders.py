"""Which sender a destination needs; only the client library of that one is loaded."""

from __future__ import annotations

from collector.clock import Clock, SystemClock
from collector.relay.destination import Destination
from collector.relay.partial_success import OnRejected
from collector.relay.sender import OtlpSender
from collector.telemetry.records import Signal


def open_sender(
    destination: Destination, *, clock: Clock | None = None, on_rejected: OnRejected | None = None
) -> OtlpSender:
    """A sender for the destination; connects with the first request. Needs a running event loop; close it.

    Raises DestinationError where certificate files cannot be loaded.
    """
    clock = clock or SystemClock()
    on_rejected = on_rejected or _uncounted
    if destination.protocol == "grpc":
        from collector.relay.grpc_sender import GrpcSender  # noqa: PLC0415 - see above

        return GrpcSender(destination, clock=clock, on_rejected=on_rejected)
    from collector.relay.http_sender import HttpSender  # noqa: PLC0415 - see above

    return HttpSender(destination, clock=clock, on_rejected=on_rejected)


def _uncounted(_signal: Signal, _rejected: int) -> None:
    """Rejected items are logged all the same."""
