"""A verdict sink that keeps what it takes, and can refuse."""

from __future__ import annotations

from evaluators.verdict import Verdict


class KeepingSink:
    def __init__(self, *, refuse_first: int = 0) -> None:
        self.verdicts: list[Verdict] = []
        self.refusals_left = refuse_first

    async def put(self, verdict: Verdict) -> None:
        if self.refusals_left:
            self.refusals_left -= 1
            raise OSError("disk full")
        self.verdicts.append(verdict)
