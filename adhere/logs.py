"""Adhere's own log: structured, on standard error, without message content, and repeated warnings held back.

The same warning or error from the same place is written at most once in ten seconds; the next one that is written says
how many were held back.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, TextIO

import structlog

from adhere.config.model import LogsConfig
from collector.clock import Clock, SystemClock

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_PERIOD_S = 10.0
_MAX_PLACES = 1024


class RepeatLimit:
    """A structlog processor that drops repeats of a warning or error within a period."""

    def __init__(self, *, clock: Clock, period_s: float = _PERIOD_S) -> None:
        self._clock = clock
        self._period_s = period_s
        self._last: dict[tuple[str, str, str], tuple[float, int]] = {}

    def __call__(self, _logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        if method not in {"warning", "error", "critical"}:
            return event
        place = (method, str(event.get("event")), str(event.get("destination") or event.get("exporter") or ""))
        now = self._clock.monotonic_s()
        last, held_back = self._last.get(place, (-self._period_s, 0))
        if now - last < self._period_s:
            self._last[place] = (last, held_back + 1)
            raise structlog.DropEvent
        if len(self._last) >= _MAX_PLACES:
            self._last.clear()
        self._last[place] = (now, 0)
        if held_back:
            event["repeats_held_back"] = held_back
        return event


class _Forwarding(logging.Handler):
    """What libraries log, in the form of all other lines, and held back where it repeats: whoever can reach a port can
    have a server warn at every request.
    """

    def __init__(self, ours: Any) -> None:
        super().__init__()
        self._ours = ours

    def emit(self, record: logging.LogRecord) -> None:
        write = self._ours.error if record.levelno >= logging.ERROR else self._ours.warning
        failed = {"exc_info": record.exc_info} if record.exc_info else {}
        write(record.getMessage(), library=record.name, **failed)


def configure_logs(config: LogsConfig, *, role: str, stream: TextIO | None = None, clock: Clock | None = None) -> None:
    """Set the process-wide log up; called once, by whoever starts the process."""
    out = stream or sys.stderr
    text = config.format == "text" or (config.format == "auto" and out.isatty())
    renderer: Any = (
        structlog.dev.ConsoleRenderer(colors=out.isatty(), exception_formatter=structlog.dev.plain_traceback)
        if text
        else structlog.processors.JSONRenderer()
    )
    processors = [
        RepeatLimit(clock=clock or SystemClock()),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _with_role(role),
        *([] if text else [structlog.processors.format_exc_info]),
        renderer,
    ]
    wrapper = structlog.make_filtering_bound_logger(_LEVELS[config.level])
    structlog.configure(
        processors=processors,
        wrapper_class=wrapper,
        # One write a line: two processes share the stream, and a line must not land in another.
        logger_factory=structlog.WriteLoggerFactory(file=out),
        cache_logger_on_first_use=False,
    )
    # Libraries log through the standard library; only their warnings matter, and never a request's address or body.
    ours = structlog.wrap_logger(structlog.WriteLogger(out), processors=processors, wrapper_class=wrapper)
    logging.basicConfig(level=logging.WARNING, handlers=[_Forwarding(ours)])
    for name in ("httpx", "httpx2", "httpcore", "httpcore2", "uvicorn.access", "azure", "msal"):
        logging.getLogger(name).setLevel(logging.ERROR)


@contextmanager
def command_logs() -> Iterator[None]:
    """For a command that a person waits for: what the log has to say of warnings, on standard error."""
    before = structlog.get_config()
    configure_logs(LogsConfig(format="text", level="warning"), role="command")
    try:
        yield
    finally:
        structlog.configure(**before)


def _with_role(role: str) -> Any:
    def add(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        event["role"] = role
        return event

    return add
