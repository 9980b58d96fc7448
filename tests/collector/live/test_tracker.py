"""What comes out of the live state, and when: turns, conversations, revisions, withdrawals."""

from __future__ import annotations

import pytest

from collector.live.find import ConversationNotFoundError
from collector.live.ready import ReadyConversation, ReadyReason, ReadyTurn, Withdrawn
from collector.telemetry.records import Signal
from tests.support.agent_telemetry import AgentTelemetry, log_body, unrelated_span
from tests.support.live_state import LiveHarness, keys_of


async def test_a_turn_is_handed_over_after_its_end_and_a_quiet_period(live):
    live.send(*AgentTelemetry().turn("order 7"))

    await live.advance(5.9)
    early = live.due()
    await live.advance(0.1)
    (turn,) = live.due()

    assert early == []
    assert isinstance(turn, ReadyTurn)
    assert turn.reason is ReadyReason.ENDED
    assert turn.conversation.turns[turn.turn_index].user_input == "order 7"
    assert turn.conversation.turns[turn.turn_index].output == "About order 7: it was sent."
    assert turn.revision == 0


async def test_the_state_says_when_to_look_again(live):
    assert live.tracker.next_due_s() is None

    live.send(*AgentTelemetry().turn("order 7"))

    assert live.tracker.next_due_s() == 6
    await live.advance(7)
    live.due()
    assert live.tracker.next_due_s() == pytest.approx(293)


async def test_a_turn_without_its_agent_span_waits_for_the_idle_timeout(live):
    live.send(*AgentTelemetry().turn("order 7")[:-1])

    await live.advance(89)
    early = live.due()
    await live.advance(1)
    (turn,) = live.due()

    assert early == []
    assert turn.reason is ReadyReason.IDLE


async def test_a_conversation_is_handed_over_when_no_turn_follows(live):
    agent = AgentTelemetry()
    for number in range(3):
        live.send(*agent.turn(f"order {number}"))
        await live.advance(60)
        assert keys_of(live.due()) == [("turn", 0)]

    await live.advance(240)
    (conversation,) = live.due()

    assert isinstance(conversation, ReadyConversation)
    assert [turn.user_input for turn in conversation.conversation.turns] == ["order 0", "order 1", "order 2"]
    assert live.tracker.next_due_s() is None


async def test_a_turn_s_context_ends_with_the_turn(live):
    agent = AgentTelemetry()
    live.send(*agent.turn("order 0"))
    live.send(*agent.turn("order 1"))
    await live.advance(7)

    first, second = live.due()

    assert len(first.conversation.turns) == 1
    assert len(second.conversation.turns) == 2


async def test_an_unchanged_conversation_is_handed_over_once(live):
    body = live.receive(one_turn())
    live.read([body])
    await live.advance(400)
    assert len(live.due()) == 2

    live.read([live.receive(body.body)])
    await live.advance(4000)

    assert live.due() == []
    assert live.count("adhere_live_items_total", outcome="duplicate") == 4


async def test_late_data_makes_the_next_revision_and_not_too_soon(live):
    spans = AgentTelemetry().turn("order 7")
    live.send(*spans[:2], spans[3])
    await live.advance(7)
    (first,) = live.due()

    live.send(spans[2])
    await live.advance(10)
    too_soon = live.due()
    await live.advance(20)
    (second,) = live.due()

    assert too_soon == []
    assert (first.key, first.revision, second.revision) == (second.key, 0, 1)
    assert first.content_digest != second.content_digest
    assert second.conversation.turns[0].output == "About order 7: it was sent."
    assert live.count("adhere_live_late_items_total") == 1


async def test_a_new_turn_makes_the_conversation_s_next_revision(live):
    agent = AgentTelemetry()
    live.send(*agent.turn("order 0"))
    await live.advance(400)
    assert keys_of(live.due()) == [("turn", 0), ("conversation", 0)]

    live.send(*agent.turn("order 1"))
    await live.advance(400)

    assert keys_of(live.due()) == [("turn", 0), ("conversation", 1)]


async def test_a_unit_that_is_none_any_more_is_withdrawn(live):
    agent = AgentTelemetry(conversation_id=None)
    first, second = agent.turn("order 0"), agent.turn("order 1")
    live.send(*second)
    await live.advance(400)
    before = {unit.key for unit in live.due()}

    live.send(*first)
    await live.advance(400)
    after = live.due()

    gone = {unit.key for unit in after if isinstance(unit, Withdrawn)}
    assert gone == before
    assert len([unit for unit in after if isinstance(unit, ReadyTurn)]) == 2
    (whole,) = [unit for unit in after if isinstance(unit, ReadyConversation)]
    assert [turn.user_input for turn in whole.conversation.turns] == ["order 0", "order 1"]


@pytest.mark.parametrize("service", ["shop", "team/shop"])
async def test_a_marked_end_does_not_wait_for_the_idle_timeout(live, service):
    live.send(*AgentTelemetry().turn("order 7"), service=service)
    live.receive(log_body("session.end", {"session.id": "conversation-1"}, service=service), signal=Signal.LOGS)
    live.read()

    await live.advance(7)
    ready = live.due()

    assert keys_of(ready) == [("turn", 0), ("conversation", 0)]
    assert ready[1].reason is ReadyReason.END_MARKER


async def test_a_mark_of_another_service_ends_nothing(live):
    live.send(*AgentTelemetry().turn("order 7"))
    live.receive(log_body("session.end", {"session.id": "conversation-1"}, service="other"), signal=Signal.LOGS)
    live.read()

    await live.advance(7)

    assert keys_of(live.due()) == [("turn", 0)]


async def test_a_slash_makes_no_two_conversations_one(live):
    live.send(*AgentTelemetry("b/c", name="a").turn("order 1"), service="a")
    live.send(*AgentTelemetry("c", name="b").turn("order 2"), service="a/b")
    await live.advance(400)

    keys = {unit.key for unit in live.due() if isinstance(unit, ReadyConversation)}

    assert keys == {"conversation:a/b/c", "conversation:a%2Fb/c"}


async def test_equal_ids_in_two_services_are_two_conversations(live):
    live.send(*AgentTelemetry(name="a").turn("order 1"), service="one")
    live.send(*AgentTelemetry(name="b").turn("order 2"), service="two")
    await live.advance(400)

    keys = {unit.key for unit in live.due() if isinstance(unit, ReadyConversation)}

    assert keys == {"conversation:one/conversation-1", "conversation:two/conversation-1"}


async def test_unrelated_spans_join_when_their_trace_turns_out_to_be_an_agent_s(live):
    spans = AgentTelemetry().turn("order 7")
    root = unrelated_span(spans[0].trace_id, "server", parent=b"12345678")
    spans[-1].parent_span_id = root.span_id
    live.send(root, unrelated_span(b"another-trace-id", "elsewhere"))
    assert live.count("adhere_live_items_total", outcome="stored") == 0

    live.send(*spans)
    await live.advance(7)

    assert live.count("adhere_live_items_total", outcome="stored") == 5
    (turn,) = live.due()
    assert turn.reason is ReadyReason.ENDED


async def test_unrelated_spans_that_come_after_join_too(live):
    spans = AgentTelemetry().turn("order 7")
    live.send(*spans)

    live.send(unrelated_span(spans[0].trace_id, "database", parent=spans[1].span_id))

    assert live.count("adhere_live_items_total", outcome="stored") == 5


async def test_unrelated_spans_do_not_wait_for_ever(live):
    live.send(*(unrelated_span(bytes([n]) * 16, f"span {n}") for n in range(1, 50)))

    await live.advance(200)
    live.send(unrelated_span(b"another-trace-id", "elsewhere"))

    assert live.count("adhere_live_items_total", outcome="unrelated") == 49
    assert live.tracker.position == live.journal.records[-1].position


@pytest.mark.parametrize("name", ["conversation-1", "conversation-", "conv"])
async def test_a_conversation_is_found_by_its_id_or_the_beginning_of_it(live, name):
    live.send(*AgentTelemetry().turn("order 7"))

    assert live.tracker.get(name).conversation_id == "conversation-1"


async def test_a_conversation_is_found_by_a_trace_id(live):
    spans = AgentTelemetry().turn("order 7")
    live.send(*spans)

    assert live.tracker.get(spans[0].trace_id.hex()[:12]).conversation_id == "conversation-1"


async def test_a_name_that_fits_none_or_several_says_so(live):
    live.send(*AgentTelemetry("chat-1", name="a").turn("x"), *AgentTelemetry("chat-2", name="b").turn("y"))

    with pytest.raises(ConversationNotFoundError, match="No conversation"):
        live.tracker.get("nothing")
    with pytest.raises(ConversationNotFoundError, match="2 conversations answer"):
        live.tracker.get("chat")
    assert len(live.tracker.find("chat")) == 2


async def test_a_quick_agent_is_waited_for_less_in_time(live):
    for number in range(25):
        live.send(*AgentTelemetry(f"c{number}", name=f"c{number}").turn("order"))
        await live.advance(10)
        live.due()

    live.send(*AgentTelemetry("last", name="last").turn("order"))

    assert live.tracker.next_due_s() == 1


async def test_an_agent_s_pace_survives_a_restart(tmp_path):
    live = LiveHarness(tmp_path)
    for number in range(25):
        live.send(*AgentTelemetry(f"c{number}", name=f"c{number}").turn("order"))
        await live.advance(10)
        live.due()

    live.restart()
    live.send(*AgentTelemetry("last", name="last").turn("order"))

    assert live.tracker.next_due_s() == 1
    live.close()


def one_turn() -> bytes:
    from tests.support.agent_telemetry import trace_body

    return trace_body(AgentTelemetry().turn("order 7"))
