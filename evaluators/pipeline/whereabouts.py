"""Where an error came from, for logs: file and line, and nothing of the values at hand, which may be people's words."""

from __future__ import annotations

import traceback
from pathlib import Path

_FRAMES = 3


def whereabouts(err: BaseException) -> str:
    """The innermost frames, outermost of them first."""
    frames = traceback.extract_tb(err.__traceback__)[-_FRAMES:]
    return " > ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
