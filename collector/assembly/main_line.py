"""A conversation's main line as turns in the making, kept while it grows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

from collector.assembly.asides import without_asides
from collector.assembly.draft import Draft
from collector.assembly.draft_state import Taken
from collector.assembly.drafts import Drafts
from collector.assembly.grove import Grove
from collector.assembly.memo import Memo
from collector.assembly.passed_on import passed_on
from collector.assembly.replayed import Replayed
from collector.assembly.segments import Segment, main_line


class MainLine:
    def __init__(self) -> None:
        self._replayed = Replayed()
        self._passed_on: Memo[dict[int, int]] = Memo()
        """Within a trace."""
        self._drafts = Drafts()

    def turns_of(self, groves: Sequence[Grove]) -> Sequence[Draft]:
        """Those of the conversation as it is now."""
        self._replayed.look_at(groves)
        segments = main_line([segment for grove in groves for segment in grove.segments])
        passed = self._passed(segments)
        givers = frozenset(passed.values())
        line = [
            Taken(segment, self._replayed.shown_calls(segment, givers), _to(segment, passed))
            for segment in without_asides(segments, self._replayed.digests, passed)
        ]
        self._drafts.follow(line)
        return self._drafts.turns

    def _passed(self, segments: Sequence[Segment]) -> dict[int, int]:
        by_trace: dict[str, list[Segment]] = defaultdict(list)
        for segment in segments:
            by_trace[segment.trace_id].append(segment)
        self._passed_on.begin_round()
        found: dict[int, int] = {}
        for own in map(tuple, by_trace.values()):
            found.update(self._passed_on.of(own, partial(passed_on, own)))
        return found


def _to(segment: Segment, passed: Mapping[int, int]) -> Mapping[int, int]:
    keys = [id(segment), *map(id, segment.calls)] if passed else ()
    return {key: passed[key] for key in keys if key in passed}
