"""What is done once at start, about what the last process left behind."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.pipeline.jobs import give_up
from evaluators.pipeline.pacing import Pacing
from evaluators.pipeline.tally import Tally
from evaluators.store.attempts import count_interruptions
from evaluators.store.dead import revive
from evaluators.store.waiting import count_by_evaluator, jobs_of_unknown, put_back, release_running
from evaluators.verdict import DecisionKind


@dataclass(frozen=True, slots=True)
class Recovered:
    waiting: Counter[str]
    """By evaluator: units that wait to be judged."""
    tallies: list[Tally]


def recover(connection: sqlite3.Connection, evaluators: Sequence[str], *, pacing: Pacing, now_ns: int) -> Recovered:
    """Let what was under way or is called back wait again, and give up what no configured evaluator will ask for."""
    revive(connection, evaluators, now_ns=now_ns)
    interruptions = count_interruptions(connection)
    for job in release_running(connection):
        pause_ns = pacing.interruption_ns(interruptions.get(job.subject, 0))
        put_back(connection, job, not_before_ns=now_ns + pause_ns)
    waiting = count_by_evaluator(connection)
    tallies = [
        give_up(
            connection,
            job,
            kind=DecisionKind.FILTERED,
            code="not_configured",
            reason="Its evaluator is no longer configured.",
            now_ns=now_ns,
        )
        for job in jobs_of_unknown(connection, evaluators)
    ]
    return Recovered(waiting, [tally for tally in tallies if tally is not None])
