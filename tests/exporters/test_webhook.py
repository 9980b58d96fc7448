from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path

import pytest

from collector.errors import RetryableError, UnauthenticatedError
from exporters.errors import TargetUnknownError
from exporters.registry import build_exporters
from exporters.webhook import REPLAY_WINDOW_S, is_signed, signature
from tests.support.backends.stand_in import Scripted
from tests.support.backends.webhook import SECRET, WebhookStandIn
from tests.support.clock import ManualClock
from tests.support.exporter_context import exporter_context
from tests.support.verdicts import REFUND_FAILED

BODY = b'{"schema":"adhere.verdicts/1"}'
NOW_S = 1_800_000_000


async def test_the_signature_is_an_hmac_of_time_and_body(tmp_path: Path):
    clock = ManualClock()
    async with WebhookStandIn(now_s=clock.now_ns() / 1e9) as hook:
        options = {"url": f"{hook.url}/hooks/adhere?token=path-secret", "secret": SECRET}
        [exporter] = build_exporters("webhook", options, context=exporter_context(tmp_path, clock=clock))

        await exporter.export([REFUND_FAILED])
        await exporter.close()

    [call] = hook.calls
    expected = hmac.new(SECRET.encode(), b"1800000000." + call.body, hashlib.sha256).hexdigest()
    assert call.headers["adhere-timestamp"] == "1800000000"
    assert call.headers["adhere-signature"] == f"v1={expected}"
    assert call.headers["content-type"] == "application/json"
    assert json.loads(call.body)["verdicts"][0]["reason"] == REFUND_FAILED.reason


@pytest.mark.parametrize(
    ("body", "timestamp", "given", "now_s", "expected"),
    [
        (BODY, "1800000000", None, NOW_S, True),
        (BODY, "1800000000", None, NOW_S + REPLAY_WINDOW_S, True),
        (BODY, "1800000000", None, NOW_S + REPLAY_WINDOW_S + 1, False),
        (BODY, "1800000000", None, NOW_S - REPLAY_WINDOW_S - 1, False),
        (BODY + b" ", "1800000000", None, NOW_S, False),
        (BODY, "1800000001", None, NOW_S, False),
        (BODY, "", None, NOW_S, False),
        (BODY, "1.8e9", None, NOW_S, False),
        (BODY, "1800000000", "v1=00", NOW_S, False),
        (BODY, "1800000000", "ü", NOW_S, False),
    ],
    ids=["good", "old", "too_old", "early", "body", "time", "no_time", "odd_time", "wrong", "not_ascii"],
)
def test_what_a_receiver_checks(*, body: bytes, timestamp: str, given: str | None, now_s: float, expected: bool):
    right = signature(BODY, timestamp="1800000000", secret=SECRET)

    assert is_signed(body, timestamp=timestamp, given=given or right, secret=SECRET, now_s=now_s) is expected


async def test_without_a_secret_nothing_is_signed_and_a_wrong_one_is_refused(tmp_path: Path):
    clock = ManualClock()
    async with WebhookStandIn(now_s=clock.now_ns() / 1e9) as hook:
        for secret in (None, "another-secret-0123456789"):
            options = {"url": f"{hook.url}/hooks/adhere?token=path-secret", "secret": secret}
            [exporter] = build_exporters("webhook", options, context=exporter_context(tmp_path, clock=clock))
            with pytest.raises(UnauthenticatedError):
                await exporter.export([REFUND_FAILED])
            await exporter.close()

    assert "adhere-signature" not in hook.calls[0].headers
    assert "adhere-signature" in hook.calls[1].headers


async def test_an_address_that_is_not_there_says_nothing_about_a_verdict(tmp_path: Path):
    async with WebhookStandIn() as hook:
        context = exporter_context(tmp_path)
        [exporter] = build_exporters("webhook", {"url": f"{hook.url}/hooks/adhere"}, context=context)
        hook.script.append(Scripted(404, {"message": "/hooks/secret-path is not there"}))

        with pytest.raises(RetryableError) as caught:
            await exporter.export([REFUND_FAILED])
        await exporter.close()

    assert not isinstance(caught.value, TargetUnknownError)
    assert "secret-path" not in str(caught.value)
