from __future__ import annotations

from pathlib import Path

import pytest

from collector.enrich.settings import HoldConfig
from collector.errors import RetryableError
from collector.journal.protocol import Position
from collector.telemetry.records import Signal
from tests.support.agent_telemetry import trace_body
from tests.support.holding import AGENT, CHAT, HTTP, TOOL, Holding, attributes_of, span, spans_in, target
from tests.support.otlp_requests import log_request, metric_request

SCORES = {"gen_ai.evaluation.rules.score.value": 1.0, "gen_ai.evaluation.rules.score.label": "pass"}
TURN = [span("chat", CHAT, parent="agent"), span("tool", TOOL, parent="agent"), span("agent", AGENT)]


@pytest.fixture
def holding(tmp_path: Path) -> Holding:
    return Holding(tmp_path)


async def test_only_the_target_is_held_and_goes_on_with_its_scores(holding: Holding) -> None:
    holding.arrive(*TURN)

    assert holding.names() == ["chat", "tool"]
    holding.hold.turn_ready(target("agent"), steps=())
    holding.hold.scores(target("agent"), SCORES, is_final=True)
    (sent,) = spans_in(holding.read())

    assert attributes_of(sent) == {**AGENT, **SCORES}
    assert holding.names() == []
    assert holding.count("enriched") == 1


async def test_a_target_waits_for_all_evaluators(holding: Holding) -> None:
    holding.arrive(*TURN)
    holding.names()
    holding.hold.turn_ready(target("agent"), steps=())

    holding.hold.scores(target("agent"), SCORES, is_final=False)
    assert holding.names() == []
    assert await holding.after(29) == []
    await holding.clock.advance(2)
    (sent,) = spans_in(holding.read())

    assert attributes_of(sent) == {**AGENT, **SCORES}, "at the deadline with the scores that are there"


async def test_without_scores_it_goes_on_as_it_came(holding: Holding) -> None:
    holding.arrive(*TURN)
    holding.names()
    holding.hold.turn_ready(target("agent"), steps=())

    holding.hold.scores(target("agent"), {}, is_final=True)
    (record,) = holding.read()

    assert record.body == trace_body([TURN[2]])
    assert holding.count("no_score") == 1


async def test_a_span_of_no_turn_goes_at_its_deadline(holding: Holding) -> None:
    holding.arrive(span("agent", AGENT))

    assert await holding.after(29) == []
    assert await holding.after(1) == ["agent"]
    assert holding.count("deadline") == 1


async def test_what_no_turn_names_goes_soon_after_the_turn(holding: Holding) -> None:
    holding.arrive(span("router", CHAT), span("agent", AGENT))
    assert holding.names() == []

    holding.hold.turn_ready(target("agent"), steps=())

    assert await holding.after(2) == ["router"]
    assert holding.count("not_a_target") == 1


async def test_another_turn_of_the_trace_may_still_name_it(holding: Holding) -> None:
    holding.arrive(span("first", AGENT), span("second", AGENT))
    holding.names()
    holding.hold.turn_ready(target("first"), steps=())
    holding.hold.turn_ready(target("second"), steps=())

    assert await holding.after(20) == []
    holding.hold.scores(target("second"), SCORES, is_final=True)

    assert holding.names() == ["second"]


async def test_a_turn_of_several_traces_lets_its_steps_go(holding: Holding) -> None:
    holding.arrive(span("asks", CHAT, trace="a"))
    holding.arrive(span("answers", CHAT, trace="b"))
    holding.names()

    holding.hold.turn_ready(target("answers", trace="b"), steps=[target("asks", trace="a").span])

    assert await holding.after(2) == ["asks"]


async def test_a_turn_may_be_known_before_its_span_is_read(holding: Holding) -> None:
    holding.hold.turn_ready(target("agent"), steps=())
    holding.arrive(*TURN)
    await holding.clock.advance(600)
    assert holding.names() == ["chat", "tool"]

    holding.hold.scores(target("agent"), SCORES, is_final=True)
    (sent,) = spans_in(holding.read())

    assert attributes_of(sent).keys() >= SCORES.keys(), "a relay that is behind enriches all the same"


async def test_logs_metrics_and_requests_without_genai_pass_untouched(holding: Holding) -> None:
    bodies = [log_request(), metric_request(), trace_body([span("GET", HTTP)])]
    for signal, body in zip((Signal.LOGS, Signal.METRICS, Signal.TRACES), bodies, strict=True):
        holding.arrive_body(signal, body)

    assert [record.body for record in holding.read()] == bodies


async def test_spans_of_adhere_itself_are_not_held(holding: Holding) -> None:
    own = {**CHAT, "adhere.internal": "x"}
    body = trace_body([span("judge", own)], scope="adhere.judge")
    holding.arrive_body(Signal.TRACES, body)

    assert [record.body for record in holding.read()] == [body]


class TestWhatIsSeenLate:
    """Children arrive first, and each alone."""

    async def test_what_may_be_anything_waits_for_half_a_second(self, holding: Holding) -> None:
        holding.arrive(span("chat", CHAT, parent="agent"))
        assert holding.names() == []

        assert await holding.after(0.5) == ["chat"]

    async def test_and_no_longer_than_until_its_agent_comes(self, holding: Holding) -> None:
        holding.arrive(span("chat", CHAT, parent="agent"))
        holding.names()

        holding.arrive(span("agent", AGENT))

        assert holding.names() == ["chat"]

    async def test_an_agent_below_a_server_is_held_once_that_is_seen(self, holding: Holding) -> None:
        holding.arrive(span("agent", AGENT, parent="POST"))
        holding.names()
        holding.arrive(span("POST", HTTP))
        assert holding.names() == ["POST"]

        assert await holding.after(20) == []

    async def test_what_a_turn_once_named_is_held_the_next_time(self, holding: Holding) -> None:
        holding.arrive(span("agent", AGENT, parent="POST", trace="one"))
        holding.names()
        assert await holding.after(1) == ["agent"]
        holding.hold.turn_ready(target("agent", trace="one"), steps=())

        holding.reopen()
        holding.arrive(span("agent", AGENT, parent="POST", trace="two"))
        holding.names()

        assert await holding.after(20) == []

    async def test_what_never_is_a_target_passes_at_once(self, holding: Holding) -> None:
        for trace in "abc":
            holding.arrive(span("chat", CHAT, parent="agent", trace=trace))
            holding.names()
            await holding.after(1)

        holding.arrive(span("chat", CHAT, parent="agent", trace="d"))

        assert holding.names() == ["chat"]


async def test_what_leaves_together_is_one_request_and_noted_as_one(holding: Holding) -> None:
    holding.arrive(*(span("agent", AGENT, trace=str(number)) for number in range(300)))
    assert holding.names() == []
    await holding.clock.advance(31)

    sent = holding.read()
    await holding.hold.mark(sent[0])
    holding.reopen()

    assert [len(spans_in([one])) for one in sent] == [256, 44]
    assert [record.body for record in holding.read()] == [sent[1].body]


async def test_over_its_bound_the_oldest_go_on(tmp_path: Path) -> None:
    one = len(trace_body([span("agent", AGENT, trace="0")]))
    holding = Holding(tmp_path, config=HoldConfig(max_bytes=2 * one))
    for number in range(3):
        holding.arrive(span("agent", AGENT, trace=str(number)))

    (gone,) = spans_in(holding.read())

    assert gone.trace_id == span("agent", AGENT, trace="0").trace_id
    assert holding.count("full") == 1


async def test_a_clock_that_was_set_back_holds_nothing_for_ever(holding: Holding) -> None:
    holding.arrive(span("agent", AGENT))
    holding.names()

    holding.clock.jump(-3600)

    assert holding.names() == ["agent"]


class TestAfterAKill:
    async def test_what_was_held_is_held_and_what_was_noted_is_not_sent_again(self, holding: Holding) -> None:
        holding.arrive(*TURN)
        (rest,) = holding.read()
        await holding.hold.mark(rest)

        holding.reopen()
        assert holding.names() == []
        holding.hold.turn_ready(target("agent"), steps=())
        holding.hold.scores(target("agent"), SCORES, is_final=True)

        assert holding.names() == ["agent"]

    async def test_what_was_not_noted_is_sent_again_with_the_same_bytes(self, holding: Holding) -> None:
        holding.arrive(*TURN)
        (rest,) = holding.read()
        holding.hold.turn_ready(target("agent"), steps=())
        holding.hold.scores(target("agent"), SCORES, is_final=True)
        (sent,) = holding.read()

        holding.reopen()
        holding.hold.scores(target("agent"), {"too": "late"}, is_final=True)
        again = holding.read()

        assert sorted(record.body for record in again) == sorted([rest.body, sent.body])

    async def test_what_the_destination_has_is_forgotten(self, holding: Holding) -> None:
        holding.arrive(span("agent", AGENT))
        holding.read()
        await holding.clock.advance(31)
        (sent,) = holding.read()
        await holding.hold.mark(sent)

        holding.reopen()

        assert holding.names() == []
        assert holding.registry.get_sample_value("adhere_enrich_held_spans", {"destination": "backend"}) == 0

    async def test_a_turn_that_was_told_is_known(self, holding: Holding) -> None:
        holding.arrive(*TURN)
        holding.read()
        holding.hold.turn_ready(target("agent"), steps=())

        holding.reopen()

        assert holding.hold.open_turns() == [target("agent")]

    async def test_places_before_the_cursor_are_forgotten(self, holding: Holding) -> None:
        holding.arrive(*TURN)
        (rest,) = holding.read()
        await holding.hold.mark(rest)
        holding.reader.commit(rest.next_position)

        holding.reopen()
        holding.arrive(span("GET", HTTP))

        assert holding.names() == ["GET"]


async def test_the_journal_forgets_only_what_is_safe_from_a_power_loss(holding: Holding) -> None:
    holding.arrive(*TURN)
    (rest,) = holding.read()
    holding.hold._state.store._db.execute("DROP TABLE synced")

    with pytest.raises(RetryableError):
        holding.reader.commit(rest.next_position)

    assert holding.journal.committed("relay-backend") == Position(0, 0)


async def test_a_damaged_file_is_set_aside(holding: Holding) -> None:
    holding.arrive(*TURN)
    holding.read()
    holding.hold.close()
    file = holding.folder / "held" / "backend.db"
    file.write_bytes(b"no database at all" * 1000)

    holding.open()

    assert [one.name for one in file.parent.glob("backend.db.unsound-*.reason")]
    assert holding.names() == ["chat", "tool"], "the journal is read from its cursor again"
