"""Traces find the same components in any order of arrival and in any cut into batches."""

from __future__ import annotations

import random
import sqlite3

import pytest

from collector.live.components import MAX_SHARING, Joining, KeyNumbers, LinkIndex, RecordedKeys
from collector.live.schema import migrate

Trace = tuple[str, KeyNumbers]


def keys(*, ids=(), provides=(), needs=(), named=False) -> KeyNumbers:
    return KeyNumbers(ids=frozenset(ids), provides=frozenset(provides), needs=frozenset(needs), is_named=named)


class Indexed:
    """A link index with just enough of the trace table around it."""

    def __init__(self) -> None:
        self.database = sqlite3.connect(":memory:", isolation_level=None)
        migrate(self.database)
        self.index = LinkIndex(self.database)
        self.names: dict[int, str] = {}
        self.component: dict[int, int] = {}

    def arrive(self, *traces: Trace) -> None:
        for union in self.index.unions([Joining(found, None) for _, found in traces]):
            target = union.components[0] if union.components else len(self.names) + 1
            for source in union.components[1:]:
                self.database.execute("UPDATE trace SET component = ? WHERE component = ?", (target, source))
            for member in union.members:
                name, found = traces[member]
                number = len(self.names) + 1
                self.names[number] = name
                self.database.execute(
                    "INSERT INTO trace (id, name, component, first, last, profile, named, keys)"
                    " VALUES (?, ?, ?, 0, 0, '', ?, x'')",
                    (number, name, target, found.is_named),
                )
                known = union.known if found.is_named else union.known_unnamed
                self.index.record([(number, RecordedKeys().plus(found, known=known, crowded=union.crowded))])

    def groups(self) -> set[frozenset[str]]:
        found: dict[int, set[str]] = {}
        for number, component in self.database.execute("SELECT id, component FROM trace"):
            found.setdefault(component, set()).add(self.names[number])
        return {frozenset(names) for names in found.values()}

    def rows(self, table: str) -> int:
        return self.database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


@pytest.fixture
def indexed():
    made = Indexed()
    yield made
    made.database.close()


CASES = {
    "the same id": ([("a", keys(ids=[1], named=True)), ("b", keys(ids=[1], named=True))], {"ab"}),
    "other ids": ([("a", keys(ids=[1], named=True)), ("b", keys(ids=[2], named=True))], {"a", "b"}),
    "a chain of ids": ([("a", keys(ids=[1])), ("b", keys(ids=[1, 2])), ("c", keys(ids=[2]))], {"abc"}),
    "one goes on from the other": ([("a", keys(provides=[5])), ("b", keys(needs=[5]))], {"ab"}),
    "both need what nobody has": ([("a", keys(needs=[5])), ("b", keys(needs=[5]))], {"a", "b"}),
    "both need what a third has": (
        [("a", keys(needs=[5])), ("b", keys(needs=[5])), ("c", keys(provides=[5]))],
        {"abc"},
    ),
    "named ones that begin with the same words": (
        [("a", keys(ids=[1], provides=[5], named=True)), ("b", keys(ids=[2], provides=[5], needs=[5], named=True))],
        {"a", "b"},
    ),
    "an unnamed one that goes on from a named one": (
        [("a", keys(ids=[1], provides=[5], named=True)), ("b", keys(needs=[5]))],
        {"ab"},
    ),
    "an unnamed beginning of a named one": (
        [("a", keys(provides=[5])), ("b", keys(ids=[1], needs=[5], provides=[6], named=True))],
        {"ab"},
    ),
    "an unnamed one between two named ones": (
        [
            ("a", keys(ids=[1], provides=[5], named=True)),
            ("b", keys(ids=[2], provides=[5], named=True)),
            ("c", keys(needs=[5])),
        ],
        {"abc"},
    ),
    "a need met in its own component and by a stranger": (
        [
            ("a", keys(ids=[1], provides=[5], named=True)),
            ("b", keys(ids=[1], needs=[5], named=True)),
            ("c", keys(provides=[5])),
        ],
        {"abc"},
    ),
}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("traces", "expected"), CASES.values(), ids=CASES.keys())
def test_traces_find_each_other_in_any_order(indexed, traces, expected, seed):
    rng = random.Random(seed)
    shuffled = rng.sample(traces, len(traces))
    cut = rng.randint(0, len(shuffled))

    indexed.arrive(*shuffled[:cut])
    for trace in shuffled[cut:]:
        indexed.arrive(trace)

    assert indexed.groups() == {frozenset(group) for group in expected}


@pytest.mark.parametrize("seed", range(40))
def test_random_traces_find_the_same_groups_in_any_order(seed):
    rng = random.Random(seed)

    def some(top: int, most: int) -> list[int]:
        return [rng.randrange(top) for _ in range(rng.randint(0, most))]

    traces = []
    for n in range(14):
        named = rng.random() < 0.5
        ids = [100 + rng.randrange(5)] if named else []
        traces.append((str(n), keys(ids=ids, provides=some(8, 2), needs=some(8, 2), named=named)))
    outcomes = []
    for _ in range(4):
        indexed = Indexed()
        shuffled = rng.sample(traces, len(traces))
        while shuffled:
            size = rng.randint(1, 5)
            indexed.arrive(*shuffled[:size])
            shuffled = shuffled[size:]
        outcomes.append(indexed.groups())
        indexed.database.close()

    assert all(outcome == outcomes[0] for outcome in outcomes)


@pytest.mark.parametrize("named", [True, False])
def test_the_index_of_a_long_conversation_is_linear(indexed, named):
    turns = 200
    for turn in range(turns):
        ids = [1] if named else []
        # Each turn needs every list before it, of which every second one is nobody's answer.
        earlier = range(max(0, 2 * turn - 64), 2 * turn)
        indexed.arrive((str(turn), keys(ids=ids, provides=[2 * turn], needs=earlier, named=named)))

    assert len(indexed.groups()) == 1
    assert indexed.rows("link_provided") == turns
    assert indexed.rows("link_needed") <= turns


def test_a_greeting_that_everybody_shares_joins_no_more_than_a_few(indexed):
    for n in range(400):
        indexed.arrive((str(n), keys(provides=[5])))

    largest = max(len(group) for group in indexed.groups())
    assert largest <= MAX_SHARING + 1
    assert indexed.rows("link_provided") <= MAX_SHARING + 1


def test_keys_on_record_survive_being_packed():
    recorded = RecordedKeys(ids=frozenset({-5, 7}), provided=frozenset(), needed=frozenset({2**63 - 1}))

    assert RecordedKeys.unpack(recorded.pack()) == recorded
    assert RecordedKeys.unpack(b"") == RecordedKeys()
