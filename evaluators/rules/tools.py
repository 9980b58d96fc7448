"""Names of tools, exact or as globs."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class Tools:
    patterns: tuple[str, ...]
    """Any of them; empty: every tool."""

    def match(self, name: str) -> bool:
        return not self.patterns or name in self.patterns or any(fnmatchcase(name, glob) for glob in self.patterns)

    def __str__(self) -> str:
        return " or ".join(self.patterns) if self.patterns else "any tool"
