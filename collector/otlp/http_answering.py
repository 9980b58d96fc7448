"""What a complete request is answered with, over HTTP: taken in, or refused with the status that OTLP names for it."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from collector.errors import PermanentError, RetryableError
from collector.otlp import http_answer
from collector.otlp.http_exchange import Exchange
from collector.otlp.intake import Intake
from collector.otlp.status import wire_status

log = structlog.get_logger(__name__)

TRANSPORT = "http"


async def answer(exchange: Exchange, intake: Intake, *, keeps_alive: Callable[[Exchange], bool]) -> bytes:
    """The bytes to send. `keeps_alive` is asked when the answer is known."""
    if exchange.error is not None:
        return _refusal(exchange.error, exchange, intake, keep_alive=keeps_alive(exchange))
    try:
        await exchange.take(intake, transport=TRANSPORT)
        return http_answer.success(exchange.head.answer_media, keep_alive=keeps_alive(exchange))
    except (PermanentError, RetryableError) as err:
        return _refusal(err, exchange, intake, keep_alive=keeps_alive(exchange))
    except Exception as err:  # A supervision point: one request that fails must not stop the service.
        log.exception("request failed", transport=TRANSPORT)
        return _refusal(err, exchange, intake, keep_alive=keeps_alive(exchange))
    finally:
        exchange.release()


def _refusal(error: Exception, exchange: Exchange, intake: Intake, *, keep_alive: bool) -> bytes:
    status = wire_status(error)
    intake.metrics.count_refused(TRANSPORT, status)
    found = http_answer.refusal(status, exchange.head.answer_media, keep_alive=keep_alive)
    # An answer to HEAD has no body.
    return found[: found.index(b"\r\n\r\n") + 4] if exchange.head.method == b"HEAD" else found
