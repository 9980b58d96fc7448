"""Calls without a result, and results without a call.

Neither is a fault of the agent as far as telemetry can tell: often the tool is not instrumented. They are flagged, so
that whoever reads a verdict knows what it was given without.
"""

from __future__ import annotations

from evaluators.finding import Breach, Finding, flagged
from evaluators.timeline import Timeline, is_retrieved


class MissingResult:
    name = "missing_result"
    demand = "each call has a result"

    def check(self, timeline: Timeline) -> Finding:
        calls = [call for call in timeline.calls if timeline.is_judged(call.turn)]
        places = [
            Breach(f"{call.name} ({call.place}) has no result.", (call,)) for call in calls if call.result is None
        ]
        return flagged(places=places, seen=len(calls))


class OrphanResult:
    name = "orphan_result"
    demand = "each result has a call"

    def check(self, timeline: Timeline) -> Finding:
        paired = {id(call.result.step) for call in timeline.calls if call.result is not None}
        results = [
            result for result in timeline.results if timeline.is_judged(result.turn) and not is_retrieved(result.step)
        ]
        places = [
            Breach(
                f"The result at turn {result.turn.index}, step {result.number} has no call before it.",
                (result,),
            )
            for result in results
            if id(result.step) not in paired
        ]
        return flagged(places=places, seen=len(results))
