"""Placeholders that stand where content was: cut by a limit, or redacted.

Only markers that no person would type count, and a redaction only where it is the whole text or stands in brackets of
its own, so that a text about redaction is no gap.
"""

from __future__ import annotations

import re

from collector.model import GapKind

_REDACTED = re.compile(r"__REDACTED__|<REDACTED>|\[REDACTED\]|<redacted>|\[redacted\]|\[Filtered\]")
_TRUNCATED = re.compile(
    r"\[truncated\b|<truncated>|\.\.\.\[truncated|\(truncated\)\s*$|… ?\[\d+ (?:more )?(?:chars|characters)",
    re.IGNORECASE,
)
_TAIL = 256
"""A mark of truncation stands at the end of a text."""


def gaps_in(text: str) -> tuple[GapKind, ...]:
    found: list[GapKind] = []
    if ("REDACTED" in text or "redacted" in text or "Filtered" in text) and _REDACTED.search(text):
        found.append(GapKind.REDACTED)
    tail = text[-_TAIL:]
    if ("runcated" in tail or "TRUNCATED" in tail or "…" in tail) and _TRUNCATED.search(tail):
        found.append(GapKind.TRUNCATED)
    return tuple(found)


def is_placeholder(text: str) -> bool:
    """The whole text is a mark of redaction."""
    return bool(_REDACTED.fullmatch(text.strip()))
