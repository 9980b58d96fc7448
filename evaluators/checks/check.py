"""What every built-in check is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

from collector.model import GapKind, Turn
from evaluators.finding import Finding
from evaluators.timeline import Timeline

NOT_SEEN = frozenset(
    {
        GapKind.CONTENT_OFF,
        GapKind.CONTENT_ELSEWHERE,
        GapKind.TRUNCATED,
        GapKind.ATTRIBUTES_DROPPED,
        GapKind.REDACTED,
        GapKind.HISTORY_UNSEEN,
        GapKind.HISTORY_COMPACTED,
        GapKind.UNDECODABLE,
    }
)
"""Calls or words may have been there that the telemetry does not hold."""

READING = frozenset(
    [
        "get",
        "list",
        "search",
        "find",
        "lookup",
        "look",
        "read",
        "query",
        "fetch",
        "retrieve",
        "check",
        "describe",
        "show",
        "view",
        "count",
        "validate",
        "calculate",
        "compute",
        "estimate",
        "compare",
        "track",
        "browse",
        "recall",
        "load",
        "think",
        "plan",
    ]
)
"""Tools with such a word in their name and none of an action tell something and change nothing."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


class Check(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def demand(self) -> str:
        """What it demands, in words."""

    def check(self, timeline: Timeline) -> Finding: ...


def gaps_up_to(timeline: Timeline, turn: Turn) -> frozenset[GapKind]:
    return frozenset(gap for other in timeline.turns if other.index <= turn.index for gap in other.gaps)


def name_words(name: str) -> frozenset[str]:
    """The words of a tool's name in lower case: `issue_refund`, `issueRefund` and `refunds.issue` have "issue"."""
    return frozenset(word.lower() for word in _WORD.findall(name))


def shares_word(names: Iterable[str], words: frozenset[str]) -> bool:
    return any(name_words(name) & words for name in names)
