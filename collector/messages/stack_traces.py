"""An error's message without the stack trace that some tracers record with it: what happened, not where in the code.

Python's begins with a line of its own and ends with the error; those of JavaScript, Java and .NET follow the message.
"""

from __future__ import annotations

import re

_PYTHON = "Traceback (most recent call last):"
_FRAMES = re.compile(r"\s*\n[ \t]+at \S")


def without_stack(text: str) -> str:
    """The message; "" where there is nothing but a stack."""
    before, found, after = text.partition(_PYTHON)
    if found and not before.strip():
        lines = [line for line in after.splitlines() if line.strip()]
        last = next((index for index in range(len(lines) - 1, -1, -1) if lines[index][:1].isspace()), -1)
        before = "\n".join(lines[last + 1 :])
    frames = _FRAMES.search(before)
    return (before[: frames.start()] if frames is not None else before).strip()
