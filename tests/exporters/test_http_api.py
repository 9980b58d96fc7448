from __future__ import annotations

import pytest

from collector.errors import AdhereError, PermanentError, RetryableError, UnauthenticatedError
from collector.relay.http_client import MAX_ANSWER_BYTES
from exporters.errors import ExporterConfigError, TargetUnknownError
from exporters.http_api import HttpApi, segment
from tests.support.backends.langfuse import LangfuseStandIn
from tests.support.backends.stand_in import Scripted
from tests.support.clock import ManualClock


def api(url: str, **options: object) -> HttpApi:
    return HttpApi(url, name="b", clock=ManualClock(), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (301, RetryableError),
        (400, PermanentError),
        (401, UnauthenticatedError),
        (403, UnauthenticatedError),
        (404, TargetUnknownError),
        (405, PermanentError),
        (407, UnauthenticatedError),
        (408, RetryableError),
        (409, RetryableError),
        (413, PermanentError),
        (422, PermanentError),
        (425, RetryableError),
        (429, RetryableError),
        (500, RetryableError),
        (501, PermanentError),
        (503, RetryableError),
        (599, RetryableError),
    ],
)
async def test_a_status_says_whether_another_try_may_help(status: int, kind: type[AdhereError]):
    async with LangfuseStandIn() as stand_in:
        client = api(stand_in.url)
        stand_in.script.append(Scripted(status))

        with pytest.raises(AdhereError, match=f"answered {status}") as caught:
            await client.call("POST", "/x", json_body={})
        await client.close()

    assert type(caught.value) is kind


async def test_an_answer_over_the_bound_is_not_kept():
    async with LangfuseStandIn() as stand_in:
        client = api(stand_in.url)
        stand_in.script.append(Scripted(200, "x" * (MAX_ANSWER_BYTES + 1)))

        answer = await client.call("GET", "/x")
        await client.close()

    assert answer.body == b""


async def test_an_answer_that_is_no_json_is_no_answer():
    async with LangfuseStandIn() as stand_in:
        client = api(stand_in.url)
        stand_in.script.append(Scripted(200, "x" * (MAX_ANSWER_BYTES + 1)))
        answer = await client.call("GET", "/x")
        await client.close()

    with pytest.raises(RetryableError, match="no JSON"):
        answer.json()


async def test_user_info_becomes_a_header_and_is_in_no_message():
    async with LangfuseStandIn() as stand_in:
        client = api(f"http://pk-lf-1:sk-lf-secret@127.0.0.1:{stand_in.port}")
        stand_in.script.append(Scripted(422, {"message": "pk-lf-1 sk-lf-secret is no good"}))

        with pytest.raises(PermanentError) as caught:
            await client.call("POST", "/api/public/scores", json_body=[])
        await client.close()

    assert stand_in.calls[0].headers["authorization"] == LangfuseStandIn.credentials["authorization"]
    assert "sk-lf-secret" not in str(caught.value)
    assert "sk-lf-secret" not in repr(client)


@pytest.mark.parametrize("url", ["", "phoenix:6006", "ftp://a", "http://", "file:///etc/passwd", "http://a:b:c"])
async def test_an_address_that_cannot_work_is_refused(url: str):
    with pytest.raises(ExporterConfigError, match="'b' cannot work"):
        api(url)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a b/c?d#e", "a%20b%2Fc%3Fd%23e"), ("..", "%2E%2E"), (".", "%2E"), ("ü", "%C3%BC"), ("a..b", "a..b")],
)
def test_a_segment_stays_one_segment(text: str, expected: str):
    assert segment(text) == expected
