"""Sending recorded requests to an endpoint, in order, one after the other: what `adhere replay` does."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from collector.clock import Clock
from collector.errors import PermanentError, RetryableError
from collector.relay.retry import RetryPolicy, send_with_retry
from collector.relay.sender import OtlpSender
from collector.telemetry.records import Signal

REPLAY_POLICY = RetryPolicy(initial_s=0.5, max_s=5.0, max_elapsed_s=30.0)
"""Someone is waiting: give up after half a minute without success."""


@dataclass(frozen=True, slots=True)
class ReplayResult:
    sent: int = 0
    sent_bytes: int = 0
    refused: int = 0
    """Requests the server will not take; the rest went on."""
    retries: int = 0
    first_refusal: str | None = None
    """The sentence of the first refusal."""
    stopped_by: str | None = None
    """Why the replay ended early: the server was not to be had for longer than the policy allows."""


async def replay(
    requests: Iterable[tuple[Signal, bytes]],
    sender: OtlpSender,
    *,
    clock: Clock,
    rng: random.Random,
    policy: RetryPolicy = REPLAY_POLICY,
    on_progress: Callable[[ReplayResult], None] | None = None,
) -> ReplayResult:
    """Send each request until it is taken or refused; stop at the first that is neither within the policy's bound.

    `requests` is read as it is sent. `on_progress` sees the result so far after each request.
    """
    result = ReplayResult()

    def count_retry(_: RetryableError) -> None:
        nonlocal result
        result = replace(result, retries=result.retries + 1)

    for signal, body in requests:

        async def send(signal: Signal = signal, body: bytes = body) -> None:
            await sender.send(signal, body)

        try:
            await send_with_retry(send, policy=policy, clock=clock, rng=rng, on_retry=count_retry)
        except PermanentError as err:
            result = replace(result, refused=result.refused + 1, first_refusal=result.first_refusal or str(err))
        except RetryableError as err:
            return replace(result, stopped_by=str(err))
        else:
            result = replace(result, sent=result.sent + 1, sent_bytes=result.sent_bytes + len(body))
        if on_progress is not None:
            on_progress(result)
    return result
