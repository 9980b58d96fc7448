"""Logging what should not have happened, without its text: an unexpected error's message may hold content."""

from __future__ import annotations

import traceback
from pathlib import PurePath

import structlog


def log_crash(log: structlog.stdlib.BoundLogger, event: str, err: BaseException, **context: object) -> None:
    """Type and place in the code instead of the traceback, whose last line is the message."""
    frames = traceback.extract_tb(err.__traceback__)
    place = f"{PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    log.error(event, error_type=type(err).__name__, at=place, **context)
