from __future__ import annotations

import json
from datetime import date

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluators.verdict import Evidence
from exporters.outbox.codec import UndecodableVerdictError, decode_verdict, encode_verdict
from tests.support.verdicts import REFUND_FAILED, verdict


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    reason=st.text(st.characters()),
    details=st.dictionaries(
        st.text(st.characters()),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
            max_leaves=10,
        ),
        max_size=3,
    ),
)
def test_nothing_that_a_verdict_can_hold_stops_it(reason: str, details: dict[str, object]):
    body = encode_verdict(verdict(reason=reason, details=details))

    decoded = decode_verdict(body)

    assert decoded.id == REFUND_FAILED.id
    assert decoded.reason.encode() == reason.encode(errors="replace")
    assert encode_verdict(decoded) == body


def test_a_verdict_survives_unchanged():
    assert decode_verdict(encode_verdict(REFUND_FAILED)) == REFUND_FAILED


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (float("nan"), None),
        (2**64, str(2**64)),
        (date(2030, 1, 2), "2030-01-02"),
        (object(), "[object]"),
        ((1, 2), [1, 2]),
    ],
    ids=["nan", "huge_int", "date", "object", "tuple"],
)
def test_values_that_json_lacks_become_the_nearest(value: object, stored: object):
    decoded = decode_verdict(encode_verdict(verdict(details={"key": value})))

    assert decoded.details == {"key": stored}


def test_endless_nesting_ends():
    nested: list[object] = []
    for _ in range(500):
        nested = [nested]

    assert "nested too deep" in encode_verdict(verdict(details={"key": nested})).decode()


@pytest.mark.parametrize(
    "changes",
    [
        {"details": {"dump": "x" * 50_000}},
        {"evidence": tuple(Evidence(turn=0, step=None, quote="q" * 3000) for _ in range(30))},
        {"reason": "r" * 100_000},
    ],
    ids=["details", "evidence", "reason"],
)
def test_a_verdict_over_the_bound_is_shortened_and_keeps_its_answer(changes: dict[str, object]):
    body = encode_verdict(verdict(**changes), max_bytes=25_000)

    decoded = decode_verdict(body)

    assert len(body) <= 25_000
    assert (decoded.id, decoded.outcome, decoded.score) == (REFUND_FAILED.id, REFUND_FAILED.outcome, 0.25)
    assert decoded.details == {"truncated": True}


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"v":1}', b'{"v":1,"verdict":{"id":"a"}}', b"\xff\xfe", b'{"v":2,"verdict":{}}'],
    ids=["empty", "cut", "list", "no_verdict", "fields_missing", "not_text", "newer_form"],
)
def test_bytes_that_are_no_verdict_are_named_as_such(body: bytes):
    with pytest.raises(UndecodableVerdictError):
        decode_verdict(body)


def test_fields_of_a_later_release_are_ignored():
    envelope = json.loads(encode_verdict(REFUND_FAILED))
    envelope["verdict"]["later"] = 1
    envelope["later"] = 2

    assert decode_verdict(msgspec.json.encode(envelope)) == REFUND_FAILED
