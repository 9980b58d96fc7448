"""Contents are stored once, whoever sends them however often, and go with their last use."""

from __future__ import annotations

import random
import sqlite3

import pytest

from collector.live.codec import decode_fragment, encode_fragment
from collector.live.content_reader import ContentReader
from collector.live.contents import Contents, release
from collector.live.schema import migrate
from collector.messages.digests import extend, with_digest
from collector.operation import Chain, Message, Operation, OperationKind, Role, TextPart, ToolCallPart


@pytest.fixture
def database():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    yield connection
    connection.close()


def message(text: str, role: Role = Role.USER) -> Message:
    return with_digest(Message(role=role, parts=(TextPart(text),)))


def call(name: str, chain: Chain | None, *answers: Message) -> Operation:
    return Operation(
        trace_id="t", span_id=name, dialect="d", kind=OperationKind.MODEL_CALL, input=chain, output=answers
    )


def store(database: sqlite3.Connection, *operations: Operation, contents: Contents | None = None) -> list[bytes]:
    contents = contents or Contents(database, cache_bytes=1_000_000)
    stored = []
    for operation in operations:
        data, references = encode_fragment(operation, contents)
        contents.hold(references)
        stored.append(data)
    contents.flush()
    return stored


def rows(database: sqlite3.Connection, table: str) -> int:
    return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def test_replayed_history_of_200_turns_is_linear_in_rows(database):
    contents = Contents(database, cache_bytes=10_000_000)
    history: list[Message] = []

    for turn in range(200):
        history.append(message(f"question {turn}"))
        answer = message(f"answer {turn}", Role.ASSISTANT)
        # A new object for each list, as from a decoder that forgot: identity must not be what saves the day.
        store(database, call(f"s{turn}", extend(None, history), answer), contents=contents)
        history.append(answer)

    assert rows(database, "content") == 400
    assert rows(database, "node") == 399


def test_sightings_that_differ_in_anything_are_kept_apart(database):
    asked = with_digest(Message(role=Role.ASSISTANT, parts=(ToolCallPart("find", {}, "id-1"),)))
    replayed = with_digest(Message(role=Role.ASSISTANT, parts=(ToolCallPart("find", {}, None),)))
    assert asked.digest == replayed.digest
    operations = [call("a", extend(None, [replayed]), asked), call("b", extend(None, [asked]), replayed)]

    stored = store(database, *operations)

    reader = ContentReader(database, cache_bytes=1_000_000)
    assert [decode_fragment(data, reader) for data in stored] == operations


@pytest.mark.parametrize("seed", range(5))
def test_the_last_use_frees_everything(database, seed):
    rng = random.Random(seed)
    texts = [message(f"message {n}") for n in range(6)]
    operations = [
        call(str(n), extend(None, rng.choices(texts, k=rng.randint(0, 5))), *rng.choices(texts, k=rng.randint(0, 2)))
        for n in range(30)
    ]
    stored = store(database, *operations)
    rng.shuffle(stored)

    for data in stored[:-1]:
        release(database, [data])
    kept = ContentReader(database, cache_bytes=1_000_000)
    assert decode_fragment(stored[-1], kept) in operations
    release(database, stored[-1:])

    assert rows(database, "content") == rows(database, "node") == 0


def test_a_rolled_back_transaction_leaves_nothing_remembered(database):
    contents = Contents(database, cache_bytes=1_000_000)
    operation = call("a", extend(None, [message("one"), message("two")]))
    database.execute("BEGIN")
    store(database, operation, contents=contents)
    database.execute("ROLLBACK")
    contents.roll_back()

    (data,) = store(database, operation, contents=contents)

    assert decode_fragment(data, ContentReader(database, cache_bytes=1_000_000)) == operation


def test_equal_lists_are_read_as_one_object(database):
    first, second = store(
        database, call("a", extend(None, [message("one")])), call("b", extend(None, [message("one"), message("two")]))
    )
    reader = ContentReader(database, cache_bytes=1_000_000)
    one, two = decode_fragment(first, reader), decode_fragment(second, reader)

    assert two.input is not None
    assert two.input.parent is one.input


def test_a_cache_of_no_size_changes_nothing_but_speed(database):
    operations = [call(str(n), extend(None, [message(f"m{k}") for k in range(n)])) for n in range(1, 10)]

    stored = store(database, *operations, contents=Contents(database, cache_bytes=0))

    reader = ContentReader(database, cache_bytes=0)
    assert [decode_fragment(data, reader) for data in stored] == operations
    assert rows(database, "node") == 9
