from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest

from evaluators.errors import StoreUnavailableError
from evaluators.store.thread import StoreThread
from tests.support.clock import ManualClock


@pytest.fixture
def store(tmp_path):
    found = StoreThread(tmp_path / "verdicts.sqlite", clock=ManualClock())
    yield found
    found.close()


def put(key):
    return lambda connection: connection.execute("INSERT INTO calls VALUES (?, 1, x'00', 1)", (key,))


def count(connection):
    return connection.execute("SELECT count(*) FROM calls").fetchone()[0]


async def test_operations_are_applied_in_order_and_their_values_come_back(store):
    results = await asyncio.gather(*(store.run(count) if n % 2 else store.run(put(f"k{n}")) for n in range(10)))

    assert results[1::2] == [1, 2, 3, 4, 5]


async def test_an_operation_that_raises_undoes_its_own_writes_only(store):
    def broken(connection):
        put("broken")(connection)
        raise ValueError("no")

    results = await asyncio.gather(
        store.run(put("before")), store.run(broken), store.run(put("after")), return_exceptions=True
    )

    assert isinstance(results[1], ValueError)
    assert await store.run(count) == 2


async def test_an_operation_has_the_file_to_itself_from_its_beginning(store):
    """Else one that reads before it writes is refused at once where another process wrote in between."""

    def operation(connection):
        count(connection)
        with (
            closing(sqlite3.connect(store.path, timeout=0, isolation_level=None)) as beside,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            beside.execute("BEGIN IMMEDIATE")
        put("k")(connection)

    await store.run(operation)

    assert await store.run(count) == 1


async def test_what_the_disk_refuses_is_retryable(store):
    with pytest.raises(StoreUnavailableError):
        await store.run(lambda connection: connection.execute("INSERT INTO no_such_table VALUES (1)"))

    await store.run(put("later"))
    assert await store.run(count) == 1


async def test_a_full_store_is_retryable(store):
    await store.run(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchone())

    with pytest.raises(StoreUnavailableError, match="full"):
        await store.run(lambda connection: connection.execute("INSERT INTO calls VALUES ('k', 1, zeroblob(1000000))"))


async def test_another_connection_sees_what_run_returned_for(store):
    await store.run(put("k"))

    other = sqlite3.connect(store.path)
    assert count(other) == 1
    other.close()


async def test_after_close_nothing_is_taken(store):
    store.close()
    store.close()

    with pytest.raises(StoreUnavailableError, match="closed"):
        await store.run(count)
