"""The same call, with the same arguments, failing over and over: the agent does not read what it gets.

One repetition is a retry. The third identical failure in a row is flagged, wherever in the conversation it comes.
"""

from __future__ import annotations

from collections import defaultdict

from evaluators.content import digest_of
from evaluators.finding import Breach, Finding, concluded
from evaluators.timeline import Call, Timeline
from evaluators.verdict import Evidence

_ALLOWED = 2


class RepeatedFailingCall:
    name = "repeated_failing_call"
    demand = f"the same call does not fail more than {_ALLOWED} times in a row"

    def check(self, timeline: Timeline) -> Finding:
        rows: dict[str, list[Call]] = defaultdict(list)
        breaches: list[Breach] = []
        seen = 0
        for call in timeline.calls:
            if call.step.arguments is None or call.result is None or not (call.failed or rows):
                continue
            key = digest_of([call.name, call.arguments])
            if not call.failed:
                rows.pop(key, None)
                continue
            rows[key].append(call)
            if not timeline.is_judged(call.turn):
                continue
            seen += 1
            count = len(rows[key])
            if count > _ALLOWED:
                reason = f"{call.name} ({call.place}) failed {count} times"
                first = rows[key][0]
                breaches.append(Breach(f"{reason} in a row with the same arguments.", _evidence(first, call)))
        return concluded(breaches=breaches, seen=seen, unknown=[])


def _evidence(first: Call, last: Call) -> tuple[Evidence, ...]:
    results = [call.result.evidence() for call in (first, last) if call.result is not None]
    return (first.evidence(), last.evidence(), *results)
