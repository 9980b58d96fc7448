from __future__ import annotations

import asyncio

import pytest

from collector.errors import PermanentError, RetryableError, UnauthenticatedError
from evaluators.verdict import Verdict
from exporters.errors import PartialExportError, TargetUnknownError
from exporters.scores.one_by_one import one_by_one
from tests.support.verdicts import verdict

ITEMS = [verdict(f"v{number}") for number in range(20)]


async def test_each_verdict_has_its_own_outcome():
    refused = PermanentError("No.")
    unknown = TargetUnknownError("Not yet.", patience_s=5)
    outcomes = {"v3": refused, "v7": unknown}
    sent: list[str] = []

    async def send(item: Verdict) -> None:
        if item.id in outcomes:
            raise outcomes[item.id]
        sent.append(item.id)

    with pytest.raises(PartialExportError) as caught:
        await one_by_one(ITEMS, send)

    assert caught.value.failures == outcomes
    assert len(sent) == len(ITEMS) - 2


@pytest.mark.parametrize("outage", [RetryableError("Away."), UnauthenticatedError("Key.")], ids=["away", "key"])
async def test_an_outage_ends_the_batch(outage: RetryableError | PermanentError):
    tried: list[str] = []

    async def send(item: Verdict) -> None:
        tried.append(item.id)
        if item.id != "v0":
            raise outage

    with pytest.raises(PartialExportError) as caught:
        await one_by_one(ITEMS, send, at_once=1)

    assert tried == ["v0", "v1"]
    assert set(caught.value.failures) == {item.id for item in ITEMS[1:]}


async def test_an_outage_before_anything_was_delivered_is_the_failure_itself():
    async def send(_: Verdict) -> None:
        raise RetryableError("Away.", retry_after_s=9)

    with pytest.raises(RetryableError) as caught:
        await one_by_one(ITEMS, send)

    assert caught.value.retry_after_s == 9


async def test_no_more_are_on_their_way_than_allowed():
    running = most = 0

    async def send(_: Verdict) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1

    await one_by_one(ITEMS, send, at_once=3)

    assert most == 3
