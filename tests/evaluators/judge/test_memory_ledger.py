from __future__ import annotations

import pytest

from evaluators.budget import Amount
from evaluators.judge.ledger import Entry, Recalled
from evaluators.judge.memory_ledger import MemoryLedger

NOTHING = Amount()


async def answered(ledger: MemoryLedger, key: str, answer: bytes | None) -> None:
    entry = await ledger.open(key, bound=NOTHING)
    assert isinstance(entry, Entry)
    await ledger.close(entry, spent=NOTHING, answer=answer)


async def test_an_answer_is_recalled_until_it_is_forgotten():
    ledger = MemoryLedger()

    await answered(ledger, "a", b"yes")
    assert await ledger.open("a", bound=NOTHING) == Recalled(b"yes")
    await ledger.forget(["a", "b"])

    assert isinstance(await ledger.open("a", bound=NOTHING), Entry)


@pytest.mark.parametrize("answer", [None, b"x" * 5000], ids=["none", "larger than all"])
async def test_what_is_no_answer_or_too_large_is_not_kept(answer):
    ledger = MemoryLedger(max_bytes=4000)

    await answered(ledger, "a", answer)

    assert isinstance(await ledger.open("a", bound=NOTHING), Entry)


async def test_the_least_recently_used_goes_first():
    ledger = MemoryLedger(max_bytes=3600)

    for key in ("a", "b", "c"):
        await answered(ledger, key, b"x" * 1000)
    await ledger.open("a", bound=NOTHING)
    await answered(ledger, "d", b"x" * 1000)

    kept = [key for key in ("a", "b", "c", "d") if isinstance(await ledger.open(key, bound=NOTHING), Recalled)]
    assert kept == ["a", "c", "d"]
