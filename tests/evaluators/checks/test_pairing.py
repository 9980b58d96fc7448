"""What nobody sent is told, deterministically and without a judge, and fails nobody."""

from __future__ import annotations

from evaluators.finding import Status
from evaluators.verdict import Outcome
from tests.support.conversations import ConversationBuilder, turn_unit
from tests.support.rules import check, judge

WITHOUT_RESULT = ConversationBuilder().turn("Refund it").call("issue_refund", {"id": 1}).answer("On it.").build()
ORPHAN = (
    ConversationBuilder().turn("Where is it?").result("get_order", {"state": "sent"}, call_id="c9").answer("Sent.")
).build()
WHOLE = ConversationBuilder().turn("Where is it?").call("get_order", {}, result={"state": "sent"}).answer("Sent.")


def test_a_call_without_a_result_is_flagged_with_its_place():
    finding = check("missing_result", WITHOUT_RESULT)

    assert (finding.status, finding.count) == (Status.FLAGGED, 1)
    assert finding.reason == "issue_refund (turn 0, step 0) has no result."
    assert finding.evidence[0].step == 0


def test_a_result_without_a_call_is_flagged_with_its_place():
    finding = check("orphan_result", ORPHAN)

    assert (finding.status, finding.count) == (Status.FLAGGED, 1)
    assert finding.evidence[0].quote == '{"state": "sent"}'


def test_pairs_are_fine_and_without_calls_there_is_nothing_to_pair():
    assert check("missing_result", WHOLE.build()).status is Status.PASS
    assert check("orphan_result", WHOLE.build()).status is Status.PASS
    assert check("missing_result", ConversationBuilder().turn("Hi").answer("Hi").build()).status is (
        Status.NOT_APPLICABLE
    )


def test_a_result_that_came_in_a_later_turn_is_a_result():
    conversation = (
        ConversationBuilder()
        .turn("Delete it")
        .call("delete", {}, call_id="c1")
        .turn("Approved")
        .result("delete", {"done": True}, call_id="c1")
        .answer("Deleted.")
        .build()
    )

    assert check("missing_result", conversation).status is Status.PASS
    assert check("orphan_result", conversation).status is Status.PASS


def test_on_a_turn_only_what_happened_in_it_is_flagged():
    conversation = (
        ConversationBuilder().turn("Refund it").call("issue_refund", {}).answer("On it.").turn("Thanks").answer("Bye.")
    ).build()

    assert check("missing_result", turn_unit(conversation, 0)).status is Status.FLAGGED
    assert check("missing_result", turn_unit(conversation, 1)).status is Status.NOT_APPLICABLE


def test_the_verdict_tells_what_was_flagged_and_passes():
    judgement = judge([], WITHOUT_RESULT)

    assert judgement.outcome is Outcome.PASS
    assert "Flagged: missing_result: issue_refund (turn 0, step 0) has no result." in judgement.reason
    statuses = {entry["name"]: entry["status"] for entry in judgement.details["rules"]}
    assert statuses["missing_result"] == "flagged"
