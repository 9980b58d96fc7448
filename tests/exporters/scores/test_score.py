from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest

from evaluators.verdict import Outcome, UnitKind
from exporters.scores.score import metadata_of, score_of, session_id, target_time, verdict_uuid, why_no_score
from tests.support.verdicts import REFUND_FAILED, TRACE_ID, verdict

ON_CONVERSATION = {"unit_kind": UnitKind.CONVERSATION}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        ({"outcome": Outcome.PASS}, None),
        ({"outcome": Outcome.ERROR}, "error"),
        ({"outcome": Outcome.NOT_ASSESSABLE}, "not_assessable"),
        ({"outcome": Outcome.ABSTAIN}, "abstain"),
        ({"score": None}, "no_score"),
        ({"trace_id": ""}, "no_target"),
        ({"trace_id": "0" * 32}, "no_target"),
        ({"trace_id": "../../etc/passwd"}, "no_target"),
    ],
    ids=["fail", "pass", "error", "not_assessable", "abstain", "no_score", "no_trace", "zero_trace", "odd_trace"],
)
def test_only_what_passed_or_failed_is_a_score(changes: dict, expected: str | None):
    assert why_no_score(verdict(**changes)) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        (ON_CONVERSATION, "conv-1"),
        ({**ON_CONVERSATION, "conversation_id": ""}, None),
        ({**ON_CONVERSATION, "conversation_id": TRACE_ID}, None),
        ({**ON_CONVERSATION, "conversation_id": "x" * 201}, None),
        ({**ON_CONVERSATION, "conversation_id": "a\nb"}, None),
    ],
    ids=["turn", "conversation", "none", "trace_id", "long", "control"],
)
def test_a_conversation_has_a_session_where_its_id_is_one(changes: dict, expected: str | None):
    assert session_id(verdict(**changes)) == expected


@pytest.mark.parametrize(("score", "expected"), [(0.25, 0.25), (0, 0.0), (1, 1.0), (1.5, 1.0), (-0.1, 0.0)])
def test_scores_lie_between_0_and_1(score: float, expected: float):
    found = score_of(verdict(score=score))

    assert found == expected
    assert isinstance(found, float)


def test_a_verdict_has_one_uuid_for_ever():
    assert verdict_uuid("v1") == verdict_uuid("v1") == uuid.UUID("1edcd399-b0b2-56ea-a43e-918bd4d8a75c")
    assert verdict_uuid("v1") != verdict_uuid("v2")
    assert verdict_uuid("v1").version == 5


def test_the_time_is_that_of_the_target():
    assert target_time(REFUND_FAILED) == datetime(2026, 9, 21, 14, 13, 20, 123457, tzinfo=UTC)


def test_metadata_is_flat_and_without_content_where_that_is_off():
    with_content = metadata_of(REFUND_FAILED, content=True)
    without = metadata_of(REFUND_FAILED, content=False)

    assert all(isinstance(value, str | int | float | bool) for value in with_content.values())
    assert "issue_refund" in str(with_content["adhere.evidence"])
    assert set(with_content) - set(without) == {"adhere.evidence"}
    assert without["adhere.verdict_id"] == REFUND_FAILED.id
