"""Error bodies of every form that servers send."""

import pytest

from evaluators.judge.error_reply import ErrorReply
from evaluators.judge.errors import JudgeErrorType


@pytest.mark.parametrize(
    ("status", "body", "error_type", "code"),
    [
        (400, b'{"error": {"message": "m", "code": "Bad_Thing", "param": "Seed"}}', "rejected", "bad_thing"),
        (400, b'{"error": "temperature is not known"}', "rejected", ""),
        (
            400,
            b'{"object": "error", "message": "m", "type": "BadRequestError", "code": 400}',
            "rejected",
            "badrequesterror",
        ),
        (422, b'{"detail": [{"loc": ["body", "seed"]}]}', "rejected", ""),
        (400, b"<html>" * 5000, "rejected", ""),
        (400, b"[" * 100_000, "rejected", ""),
        (400, b"\xff\xfe", "rejected", ""),
        (400, b'{"error": {"message": "the maximum context length is 10"}}', "too_long", ""),
        (429, b'{"error": {"type": "insufficient_quota"}}', "quota_exhausted", "insufficient_quota"),
        (429, b'{"error": {"code": 429, "type": "insufficient_quota"}}', "quota_exhausted", "insufficient_quota"),
        (
            429,
            b'{"error": {"message": "RateLimitError: OpenAIException - insufficient_quota", "code": "429"}}',
            "quota_exhausted",
            "",
        ),
        (
            429,
            b'{"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}',
            "rate_limited",
            "rate_limit_exceeded",
        ),
        (429, b"", "rate_limited", ""),
        (418, b'{"error": {"code": "my secret words, \\u00e9"}}', "rejected", ""),
    ],
)
def test_a_body_of_any_form_has_a_type_and_shows_no_words(status, body, error_type, code):
    reply = ErrorReply.read(status, body)

    assert reply.error_type is JudgeErrorType(error_type)
    assert reply.shown_code == code


@pytest.mark.parametrize(
    ("body", "error_type", "status"),
    [
        pytest.param(b'{"error": {"message": "m", "code": 429}}', "rate_limited", 429, id="its code"),
        pytest.param(b'{"error": {"message": "m", "code": "503"}}', "server_error", 503, id="its code as a text"),
        pytest.param(b'{"error": {"type": "rate_limit_error"}}', "rate_limited", 429, id="words for too many"),
        pytest.param(b'{"error": {"code": "invalid_api_key"}}', "unauthorized", 401, id="words for a wrong key"),
        pytest.param(b'{"error": {"message": "maximum context length is 9"}}', "too_long", 400, id="too long"),
        pytest.param(b'{"error": "overloaded"}', "server_error", 500, id="no form"),
        pytest.param(b'{"error": {"code": 7}}', "server_error", 500, id="a code that is no status"),
        pytest.param(b'{"error": {"code": 1e999}}', "server_error", 500, id="a code without an end"),
        pytest.param(b'"error" [' + b"[" * 100_000, "server_error", 500, id="deep garbage"),
    ],
)
def test_an_error_that_comes_with_200_is_an_error(body, error_type, status):
    reply = ErrorReply.inside(body)

    assert reply is not None
    assert (reply.error_type, reply.status) == (JudgeErrorType(error_type), status)


@pytest.mark.parametrize("body", [b"{}", b'{"choices": [], "error": null}', b"<html>error</html>", b""])
def test_what_names_no_error_is_none(body):
    assert ErrorReply.inside(body) is None


def test_only_a_request_of_a_wrong_form_is_worth_another_form():
    assert ErrorReply.read(400, b"schema").refusal() is not None
    assert ErrorReply.read(404, b"schema").refusal() is None
    assert ErrorReply.read(400, b"content_filter").refusal() is None
