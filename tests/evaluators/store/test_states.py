"""What judges carry from turn to turn: found by content, bounded, and no promise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluators.content import prefix_digests
from evaluators.store.retention import Retention, trim
from evaluators.store.states import MAX_STATE_BYTES, KeptState, StoredStates
from evaluators.store.thread import StoreThread
from tests.support.clock import ManualClock
from tests.support.conversations import ConversationBuilder, conversation_unit, refund_conversation, turn_unit
from tests.support.states import StatesInMemory

PREFIXES = ["p0", "p1", "p2", "p3"]


@pytest.fixture
def store(tmp_path):
    found = StoreThread(tmp_path / "verdicts.sqlite", clock=ManualClock())
    yield found
    found.close()


@pytest.fixture(params=["stored", "in memory"])
def states(request, store):
    return StoredStates(store, clock=ManualClock()) if request.param == "stored" else StatesInMemory()


async def test_the_state_that_covers_most_turns_is_recalled(states):
    await states.keep("chain", "p1", KeptState(1, b"one"))
    await states.keep("chain", "p2", KeptState(2, b"two"))

    assert await states.recall("chain", PREFIXES) == KeptState(2, b"two")
    assert await states.recall("chain", PREFIXES[:2]) == KeptState(1, b"one")
    assert await states.recall("another", PREFIXES) is None


async def test_a_state_from_before_a_change_of_an_earlier_turn_is_not_taken(states):
    await states.keep("chain", "p1", KeptState(1, b"one"))
    await states.keep("chain", "p2", KeptState(2, b"two"))

    assert await states.recall("chain", ["p0", "p1", "changed", "changed too"]) == KeptState(1, b"one")
    assert await states.recall("chain", ["p0", "changed", "p2?"]) is None


async def test_a_chain_keeps_only_its_newest_states(states):
    for turns in range(1, 20):
        await states.keep("chain", f"p{turns}", KeptState(turns, b"x"))
    prefixes = [f"p{turns}" for turns in range(20)]

    assert await states.recall("chain", prefixes[:12]) is None
    assert await states.recall("chain", prefixes[:13]) == KeptState(12, b"x")


async def test_states_outlive_the_process(tmp_path):
    path = tmp_path / "kept.sqlite"
    first = StoreThread(path, clock=ManualClock())
    await StoredStates(first, clock=ManualClock()).keep("chain", "p1", KeptState(1, b"one"))
    first.close()

    second = StoreThread(path, clock=ManualClock())

    assert await StoredStates(second, clock=ManualClock()).recall("chain", PREFIXES) == KeptState(1, b"one")
    second.close()


async def test_a_store_that_is_gone_costs_a_state_and_nothing_else(tmp_path):
    closed = StoreThread(tmp_path / "closed.sqlite", clock=ManualClock())
    closed.close()
    states = StoredStates(closed, clock=ManualClock())

    await states.keep("chain", "p1", KeptState(1, b"one"))

    assert await states.recall("chain", PREFIXES) is None


async def test_a_state_over_the_bound_is_not_kept(store):
    states = StoredStates(store, clock=ManualClock())

    await states.keep("chain", "p1", KeptState(1, b"x" * (MAX_STATE_BYTES + 1)))

    assert await states.recall("chain", PREFIXES) is None


async def test_old_states_go_with_old_answers(store):
    clock = ManualClock()
    states = StoredStates(store, clock=clock)
    await states.keep("chain", "p1", KeptState(1, b"one"))
    later_ns = clock.now_ns() + int(8 * 86400e9)

    while await store.run(lambda connection: trim(connection, Retention(), now_ns=later_ns)):
        pass

    assert await states.recall("chain", PREFIXES) is None


async def test_memory_is_bounded():
    states = StatesInMemory(max_chains=2)
    for chain in ("a", "b", "c"):
        await states.keep(chain, "p1", KeptState(1, b"x"))

    assert await states.recall("a", PREFIXES) is None
    assert await states.recall("c", PREFIXES) is not None


def test_prefixes_are_the_same_for_the_same_turns_and_differ_from_a_change_on():
    conversation = ConversationBuilder("c").turn("a").answer("b").turn("c").answer("d").turn("e").answer("f").build()
    changed_turns = list(conversation.turns)
    changed_turns[1] = replace(changed_turns[1], output="D")

    whole = prefix_digests(conversation_unit(conversation))
    shorter = prefix_digests(conversation_unit(replace(conversation, turns=conversation.turns[:2])))
    changed = prefix_digests(conversation_unit(replace(conversation, turns=tuple(changed_turns))))

    assert len(whole) == 4
    assert shorter == whole[:3]
    assert [one == other for one, other in zip(whole, changed, strict=True)] == [True, True, False, False]


def test_prefixes_depend_on_the_rules_in_force_and_on_what_is_judged():
    conversation = refund_conversation(verified=True)
    other_rules = replace(conversation, system_instructions="Other rules.")

    digests = [
        prefix_digests(unit)[0]
        for unit in (turn_unit(conversation), conversation_unit(conversation), turn_unit(other_rules))
    ]

    assert len(set(digests)) == 3
