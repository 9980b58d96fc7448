"""A component that grows, and a reconstruction that remembers nothing, to hold against one that does."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence

from collector.assembly.assemble import conversation_told
from collector.assembly.grove import Grove
from collector.assembly.link import Links
from collector.assembly.main_line import MainLine
from collector.assembly.merge import merged
from collector.assembly.units import Unit, by_trace, operations_of, traces_of, units_of
from collector.live.reconstruction import Assembling
from collector.live.standard import StandardReconstruction
from collector.model import Conversation
from collector.operation import Operation

Assembled = Sequence[tuple[Conversation, Sequence[Operation]]]


class ForgetfulReconstruction(StandardReconstruction):
    """Every look is a first look."""

    def assembling(self) -> Assembling:
        return _Forgetful()


class _Forgetful:
    def conversations(self, traces: Iterable[Sequence[Operation]]) -> Assembled:
        every = [operation for trace in traces for operation in trace]
        return StandardReconstruction().conversations(every)

    def release(self) -> None:
        pass


class GrowingComponent:
    """Fragments that come bit by bit; traces to which none came are the same objects from look to look."""

    def __init__(self) -> None:
        self._assembling = StandardReconstruction().assembling()
        self._fragments: list[Operation] = []
        self._traces: dict[str, tuple[Operation, ...]] = {}

    def add(self, fragments: Iterable[Operation]) -> None:
        self._fragments += fragments
        for trace in by_trace(self._fragments):
            if len(trace) != len(self._traces.get(trace[0].trace_id, ())):
                self._traces[trace[0].trace_id] = trace

    def as_it_goes_on(self, rng: random.Random) -> Assembled:
        return self._assembling.conversations(rng.sample(list(self._traces.values()), len(self._traces)))

    def as_at_first(self) -> Assembled:
        """All trees built together, and nothing known before."""
        units = units_of(traces_of(merged(self._fragments)))
        return [(_at_once(members), tuple(operations_of(members))) for members in Links().groups_of(units)]


def _at_once(members: Sequence[Unit]) -> Conversation:
    units = members
    if not all(unit.is_whole for unit in members):
        units = units_of(traces_of(operations_of(members)))
    return conversation_told(units, [Grove(tuple(units))], MainLine())


def portions(fragments: Sequence[Operation], rng: random.Random) -> Iterator[Sequence[Operation]]:
    """As time goes by, as it goes by with some that are late, in any order, or the latest first."""
    order = rng.choice(("time", "late", "any", "back"))
    arrived = sorted(fragments, key=lambda op: op.start_ns or op.end_ns)
    if order == "late":
        late = {id(op): rng.random() < 0.15 and rng.randint(1, len(arrived)) for op in arrived}
        arrived = [op for _, op in sorted(enumerate(arrived), key=lambda item: item[0] + late[id(item[1])])]
    elif order == "any":
        rng.shuffle(arrived)
    elif order == "back":
        arrived.reverse()
    while arrived:
        size = rng.choice((1, 2, 3, 5, 8, 20))
        yield arrived[:size]
        arrived = arrived[size:]
