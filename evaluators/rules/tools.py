"""Names of tools, exact or as globs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate

_WILD = re.compile(r"[*?\[]")


class Tools:
    """Any of the patterns; without any, every tool."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = tuple(patterns)
        self._exact = frozenset(self.patterns)
        wild = [pattern for pattern in self.patterns if _WILD.search(pattern)]
        self._glob = re.compile("|".join(map(translate, wild))) if wild else None

    def match(self, name: str) -> bool:
        if not self.patterns or name in self._exact:
            return True
        return self._glob is not None and self._glob.match(name) is not None

    def __str__(self) -> str:
        return " or ".join(self.patterns) if self.patterns else "any tool"
