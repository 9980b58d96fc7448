"""When to try again: exponential backoff with jitter, the server's word first, bounded where a bound is set."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from collector.clock import Clock
from collector.errors import RetryableError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    initial_s: float = 1.0
    max_s: float = 30.0
    multiplier: float = 2.0
    jitter: float = 0.3
    """A delay is spread by this share to either side, so that senders that failed together part."""
    min_s: float = 0.1
    """Also for servers that ask for less."""
    max_retry_after_s: float = 600.0
    """The longest time a server can make us wait between two tries."""
    max_elapsed_s: float | None = None
    """Give up once a request has waited this long. None: never; for the relay the journal is the bound."""

    def delay_s(self, retries: int, *, retry_after_s: float | None, rng: random.Random) -> float:
        """Before the next try, after `retries` earlier ones.

        A time the server names is kept to, plus at most a tenth: earlier would be refused, much later wastes time.
        Naming 0 seconds is naming none.
        """
        if retry_after_s:
            return max(self.min_s, min(retry_after_s, self.max_retry_after_s) * rng.uniform(1.0, 1.1))
        # The exponent is bounded, as retries are not: a float overflows after about 1,000 doublings.
        backoff = min(self.max_s, self.initial_s * self.multiplier ** min(retries, 60))
        return max(self.min_s, backoff * rng.uniform(1 - self.jitter, 1 + self.jitter))


async def send_with_retry(
    send: Callable[[], Awaitable[None]],
    *,
    policy: RetryPolicy,
    clock: Clock,
    rng: random.Random,
    on_retry: Callable[[RetryableError], None],
) -> None:
    """Try until it works. Raises PermanentError at once, a RetryableError when `policy.max_elapsed_s` is over."""
    started_s = clock.monotonic_s()
    retries = 0
    while True:
        try:
            await send()
        except RetryableError as err:
            delay_s = policy.delay_s(retries, retry_after_s=err.retry_after_s, rng=rng)
            elapsed_s = clock.monotonic_s() - started_s
            if policy.max_elapsed_s is not None and elapsed_s + delay_s > policy.max_elapsed_s:
                raise
            on_retry(err)
            retries += 1
            await clock.sleep(delay_s)
        else:
            return
