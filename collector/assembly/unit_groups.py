"""Units that were found to belong together: a union-find that never joins two conversation ids."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from collector.assembly.units import Unit
from collector.operation import Operation


class UnitGroups:
    def __init__(self, units: Sequence[Unit]) -> None:
        self.units: list[Unit] = []
        self._root: list[int] = []
        self._name: list[str | None] = []
        self.add(units)

    def add(self, units: Sequence[Unit]) -> None:
        self._root += range(len(self.units), len(self.units) + len(units))
        self._name += [unit.conversation_id for unit in units]
        self.units += units

    def find(self, index: int) -> int:
        """The index that stands for the group."""
        while self._root[index] != index:
            self._root[index] = self._root[self._root[index]]
            index = self._root[index]
        return index

    def may_join(self, one: int, two: int) -> bool:
        first, second = self._name[self.find(one)], self._name[self.find(two)]
        return first is None or second is None or first == second

    def join(self, one: int, two: int) -> bool:
        """Whether they are together now."""
        if not self.may_join(one, two):
            return False
        first, second = sorted((self.find(one), self.find(two)))
        if first != second:
            self._root[second] = first
            self._name[first] = self._name[first] or self._name[second]
        return True

    def members(self) -> list[Sequence[Unit]]:
        found: dict[int, list[Unit]] = defaultdict(list)
        for index, unit in enumerate(self.units):
            found[self.find(index)].append(unit)
        return list(found.values())


def indexed_operations(units: Sequence[Unit]) -> Iterator[tuple[int, Operation]]:
    """Each with the index of its unit."""
    for index, unit in enumerate(units):
        for operation in unit.operations:
            yield index, operation
