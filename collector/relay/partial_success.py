"""Reading what a server says along with success: a number of rejected items, a warning, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import structlog

from collector.clock import Clock
from collector.errors import MalformedRequestError
from collector.log_limit import LogLimit
from collector.relay.destination import Destination
from collector.relay.echo import without_echo
from collector.relay.refusal import printable
from collector.relay.wire import BYTES, VARINT, fields, read_varint
from collector.telemetry.records import Signal

log = structlog.get_logger(__name__)

OnRejected: TypeAlias = Callable[[Signal, int], None]
"""Called with the signal and the number of spans, log records or data points a server rejected in a partial success."""


@dataclass(frozen=True, slots=True)
class PartialSuccess:
    rejected: int = 0
    message: str = ""
    """Shortened; with nothing rejected it is a warning."""


def partial_success(response: bytes) -> PartialSuccess:
    """From an Export*ServiceResponse of any signal: `partial_success` = 1 {rejected = 1, error_message = 2}.

    What cannot be read is plain success: the status said so, and sending again would only make duplicates.
    """
    rejected, message = 0, ""
    try:
        for field in fields(response):
            if field.number == 1 and field.wire_type == BYTES:
                partial = response[field.value_start : field.end]
                for part in fields(partial):
                    if part.number == 1 and part.wire_type == VARINT:
                        rejected = read_varint(partial, part.value_start)[0]
                    elif part.number == 2 and part.wire_type == BYTES:
                        message = printable(partial[part.value_start : part.end])
    except MalformedRequestError:
        return PartialSuccess()
    # A negative number is a number of ten bytes; no server can reject less than nothing.
    return PartialSuccess(rejected=rejected if rejected < 1 << 63 else 0, message=message)


class PartialSuccessLog:
    """Counts and logs, at most a line every ten seconds, what a destination rejected."""

    def __init__(self, destination: Destination, *, clock: Clock, on_rejected: OnRejected) -> None:
        self._destination = destination.name
        self._secrets = tuple(destination.headers.values())
        self._limit = LogLimit(clock)
        self._on_rejected = on_rejected

    def note(self, signal: Signal, response: bytes, *, sent: bytes) -> None:
        if not response:
            return
        found = partial_success(response)
        if found.rejected:
            self._on_rejected(signal, found.rejected)
        if (found.rejected or found.message) and self._limit.allows(signal):
            log.warning(
                "destination accepted in part" if found.rejected else "destination warns",
                destination=self._destination,
                signal=signal.value,
                rejected=found.rejected,
                reason=without_echo(found.message, sent=sent, secrets=self._secrets),
                left_out=self._limit.left_out(signal),
            )
