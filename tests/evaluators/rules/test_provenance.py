from __future__ import annotations

import pytest

from collector.model import GapKind
from evaluators.finding import Status
from tests.support.conversations import ConversationBuilder
from tests.support.rules import find

ORDER = {"provenance": "issue_refund", "arguments": ["order_id", "amount"]}


def refund(arguments, *, user="Refund order B-2040, please", result=None, system="Shop REF-77", gaps=()):
    builder = ConversationBuilder(system=system).turn(user, gaps=gaps)
    if result is not None:
        builder.call("get_order", {"q": 1}, result=result)
    return builder.call("issue_refund", arguments, result={"ok": True}).answer("Done.").build()


@pytest.mark.parametrize(
    ("arguments", "options", "status"),
    [
        ({"order_id": "B-2040", "amount": 24.9}, {"result": {"total": 24.90}}, Status.PASS),
        ({"order_id": "b2040", "amount": "24.90"}, {"result": '{"total": 24.9}'}, Status.PASS),
        ({"order_id": "B-2040", "amount": 24.9}, {"user": "B-2040, es waren 24,90 €"}, Status.PASS),
        ({"order_id": "B-2040", "amount": 1200}, {"user": "B-2040 for $1,200"}, Status.PASS),
        ({"order_id": "REF-77"}, {}, Status.PASS),
        ({"order_id": "B-2041", "amount": 24.9}, {"result": {"total": 24.9}}, Status.FAIL),
        ({"order_id": "B-2040", "amount": 25.9}, {"result": {"total": 24.9}}, Status.FAIL),
        ({"order_id": ["B-2040", "C-1"]}, {}, Status.FAIL),
        ({"note": "anything"}, {}, Status.PASS),
    ],
    ids=["result", "spelling", "comma", "thousands", "system", "wrong-id", "wrong-amount", "one-of-list", "not-listed"],
)
def test_values_come_from_somewhere(arguments, options, status):
    assert find(ORDER, refund(arguments, **options)).status is status


def test_without_a_list_only_identifiers_are_checked():
    rule = {"provenance": "issue_refund"}

    assert find(rule, refund({"order_id": "B-2040", "reason": "torn cover", "amount": 3})).status is Status.PASS
    assert find(rule, refund({"order_id": "B-9999"})).status is Status.FAIL


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-06",
        "2026-03-06T20:00:00Z",
        "20:00",
        "24.90",
        "1,200.50",
        "2026",
        "PT30M",
        "v1.2.3",
        "30min",
        "10:30-11:00",
    ],
)
def test_what_can_be_worked_out_is_no_identifier(value):
    assert find({"provenance": "issue_refund"}, refund({"when": value})).status is Status.PASS


def test_a_date_that_is_named_and_stands_nowhere_is_not_assessable():
    rule = {"provenance": "issue_refund", "arguments": ["order_id", "on"]}

    unknown = find(rule, refund({"order_id": "B-2040", "on": "2026-03-06"}, user="B-2040, tomorrow"))
    broken = find(rule, refund({"order_id": "B-2041", "on": "2026-03-06"}, user="B-2040, tomorrow"))

    assert (unknown.status, broken.status) == (Status.NOT_ASSESSABLE, Status.FAIL)
    assert "may be worked out from other words" in unknown.reason
    assert "2026" not in broken.reason


@pytest.mark.parametrize("rule", [{"provenance": "issue_refund"}, ORDER | {"arguments": "payload.order_id"}], ids=str)
def test_json_in_a_text_is_looked_into(rule):
    good, bad = ({"payload": f'{{"order_id": "{order}"}}'} for order in ("B-2040", "B-9999"))

    assert find(rule, refund(good)).status is Status.PASS
    assert find(rule, refund(bad)).status is Status.FAIL


@pytest.mark.parametrize(
    "result",
    [
        pytest.param({"B-77": {"total": 3}}, id="key"),
        pytest.param('{"data": "{\\"id\\": \\"B-77\\"}"}', id="JSON in JSON"),
        pytest.param('{"id": "\\u0042-77"}', id="escaped"),
        pytest.param("Found: B-77", id="text"),
    ],
)
def test_results_are_read_whatever_their_form(result):
    assert find(ORDER, refund({"order_id": "B-77"}, result=result)).status is Status.PASS


def test_sources_can_be_narrowed_to_one_tool():
    rule = {"provenance": "issue_refund", "arguments": "order_id", "from": ["tool:get_order"]}

    assert find(rule, refund({"order_id": "B-2040"})).status is Status.FAIL
    assert find(rule, refund({"order_id": "B-2040"}, result={"id": "B-2040"})).status is Status.PASS


def test_a_result_after_the_call_is_no_source():
    conversation = (
        ConversationBuilder()
        .turn("Refund it")
        .call("issue_refund", {"order_id": "B-2040"}, result={"order_id": "B-2040"})
        .build()
    )

    assert find(ORDER, conversation).status is Status.FAIL


def test_the_agents_own_words_are_a_source_only_where_that_is_said():
    conversation = (
        ConversationBuilder()
        .turn("Refund it")
        .answer("Do you mean B-7?")
        .turn("Yes")
        .call("issue_refund", {"order_id": "B-7"}, result={})
        .build()
    )

    assert find(ORDER, conversation).status is Status.FAIL
    assert find({**ORDER, "from": ["user", "agent"]}, conversation).status is Status.PASS


@pytest.mark.parametrize("gap", [GapKind.TOOL_RESULT_MISSING, GapKind.CONTENT_OFF, GapKind.TRUNCATED], ids=str)
def test_with_a_gap_before_the_call_nothing_is_concluded(gap):
    assert find(ORDER, refund({"order_id": "B-9999"}, gaps=[gap])).status is Status.NOT_ASSESSABLE
