"""Where verdicts go next."""

from __future__ import annotations

from typing import Protocol

from evaluators.verdict import Verdict


class VerdictSink(Protocol):
    async def put(self, verdict: Verdict) -> None:
        """Returns when the verdict is durably taken over; raises to be given it again later.

        At least once: after a crash the same verdict, with the same id, may come again.
        """
