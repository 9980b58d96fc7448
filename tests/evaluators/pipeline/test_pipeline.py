from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model import Agent, GapKind, TurnStatus
from evaluators.errors import StoreUnavailableError
from evaluators.evaluator import Judgement
from evaluators.pipeline.limits import PipelineLimits
from evaluators.verdict import DecisionKind, Outcome, UnitKind
from tests.support.conversations import ConversationBuilder, conversation_unit, refund_conversation, turn_unit
from tests.support.evaluators import ScriptedEvaluator, passing
from tests.support.judging import Judging, judging, setup
from tests.support.until import advance_until, until
from tests.support.verdict_sink import KeepingSink


def changed(unit, output, *, revision):
    """The same unit with another answer."""
    turns = unit.conversation.turns
    turns = (*turns[:-1], replace(turns[-1], output=output))
    return replace(unit, conversation=replace(unit.conversation, turns=turns), revision=revision)


async def test_a_unit_is_judged_and_its_verdict_handed_over(tmp_path):
    evaluator = ScriptedEvaluator()
    unit = turn_unit(refund_conversation(verified=True))

    async with judging(tmp_path, setup(evaluator)) as found:
        await found.pipeline.submit(unit)
        await found.pipeline.drain()
        record = await found.explain("refund")

    assert [verdict.outcome for verdict in found.sink.verdicts] == [Outcome.PASS]
    assert [entry.decision.kind for entry in record.decisions] == [DecisionKind.JUDGED]
    assert record.decisions[0].verdict == found.sink.verdicts[0]
    assert record.waiting == ()


async def test_a_verdict_names_its_target_and_versions(tmp_path):
    unit = turn_unit(refund_conversation(verified=True))

    async with judging(tmp_path, setup(ScriptedEvaluator(version="3", rubric_version="r9"))) as found:
        await found.pipeline.submit(unit)
        await found.pipeline.drain()

    verdict = found.sink.verdicts[0]
    assert (verdict.trace_id, verdict.span_id) == (unit.turn.trace_id, unit.turn.span_id)
    assert (verdict.target_end_ns, verdict.response_id) == (unit.turn.end_ns, unit.turn.response_id)
    assert (verdict.evaluator_version, verdict.rubric_version, verdict.judge.name) == ("3", "r9", "judge-1")
    assert (verdict.unit_key, verdict.conversation_id, verdict.service) == (unit.key, "refund", "shop")
    assert (verdict.agent_name, verdict.agent_version, verdict.turn_index) == ("robin", "1", 1)


async def test_only_evaluators_of_the_units_kind_are_asked(tmp_path):
    of_turns, of_conversations = (
        ScriptedEvaluator(name="a"),
        ScriptedEvaluator(name="b", unit_kind=UnitKind.CONVERSATION),
    )
    conversation = refund_conversation(verified=True)

    async with judging(tmp_path, setup(of_turns), setup(of_conversations)) as found:
        await found.pipeline.submit(turn_unit(conversation))
        await found.pipeline.submit(conversation_unit(conversation))
        await found.pipeline.drain()

    assert [unit.kind for unit in of_turns.asked] == [UnitKind.TURN]
    assert [unit.kind for unit in of_conversations.asked] == [UnitKind.CONVERSATION]


async def test_a_withdrawn_unit_has_no_current_verdict_until_it_comes_back(tmp_path):
    unit = turn_unit(refund_conversation(verified=True))

    async with judging(tmp_path, setup(ScriptedEvaluator())) as found:
        await found.pipeline.submit(unit)
        await found.pipeline.drain()
        await found.pipeline.withdraw(unit.key)
        await found.pipeline.withdraw(unit.key)
        gone = await found.explain("refund")
        await found.pipeline.submit(replace(unit, revision=unit.revision + 1))
        await found.pipeline.drain()
        back = await found.explain("refund")

    assert [entry.decision.kind for entry in gone.decisions if entry.current] == [DecisionKind.SUPERSEDED]
    assert [entry.decision.kind for entry in back.decisions if entry.current] == [DecisionKind.JUDGED]


async def test_a_turn_known_from_replayed_history_only_is_not_judged(tmp_path):
    evaluator = ScriptedEvaluator()
    unit = turn_unit(refund_conversation(verified=True))
    turn = replace(unit.turn, gaps=(GapKind.HISTORY_UNSEEN,))
    conversation = replace(unit.conversation, turns=(*unit.conversation.turns[:-1], turn))

    async with judging(tmp_path, setup(evaluator)) as found:
        await found.pipeline.submit(replace(unit, conversation=conversation))
        await found.pipeline.drain()
        record = await found.explain("refund")

    assert evaluator.asked == []
    assert [entry.decision.kind for entry in record.decisions] == [DecisionKind.NOT_ASSESSABLE]


@pytest.mark.parametrize("immediate", [True, False], ids=["immediate", "waiting"])
async def test_the_same_content_again_is_neither_asked_nor_handed_over_again(tmp_path, immediate):
    evaluator = ScriptedEvaluator()
    unit = turn_unit(refund_conversation(verified=True))

    async with judging(tmp_path, setup(evaluator, immediate=immediate)) as found:
        for _ in range(3):
            await found.pipeline.submit(unit)
        await found.pipeline.drain()
        await found.pipeline.submit(unit)
        await found.pipeline.drain()
        record = await found.explain("refund")

    assert len(evaluator.asked) == 1
    assert len(found.sink.verdicts) == 1
    assert len(record.decisions) == 1
    assert found.metric("adhere_judging_unchanged_total") == 3


@pytest.mark.parametrize("immediate", [True, False], ids=["immediate", "waiting"])
async def test_a_new_revision_supersedes_the_verdict_before(tmp_path, immediate):
    unit = turn_unit(refund_conversation(verified=True))

    async with judging(tmp_path, setup(ScriptedEvaluator(), immediate=immediate)) as found:
        await found.pipeline.submit(unit)
        await found.pipeline.drain()
        await found.pipeline.submit(changed(unit, "Done.", revision=1))
        await found.pipeline.drain()
        record = await found.explain("refund")

    first, second = found.sink.verdicts
    assert second.supersedes == first.id
    assert (first.revision, second.revision) == (0, 1)
    assert [entry.decision.kind for entry in record.decisions] == [DecisionKind.SUPERSEDED, DecisionKind.JUDGED]
    assert [entry.current for entry in record.decisions] == [False, True]


async def test_a_replay_of_an_earlier_revision_changes_nothing(tmp_path):
    evaluator = ScriptedEvaluator()
    unit = turn_unit(refund_conversation(verified=True))
    later = changed(unit, "Done.", revision=1)

    async with judging(tmp_path, setup(evaluator)) as found:
        for submitted in (unit, later, unit, later):
            await found.pipeline.submit(submitted)
            await found.pipeline.drain()
        record = await found.explain("refund")

    assert len(evaluator.asked) == 2
    assert len(found.sink.verdicts) == 2
    assert [entry.decision.revision for entry in record.decisions if entry.current] == [1]


async def test_content_that_comes_back_makes_its_verdict_current_again_without_asking(tmp_path):
    evaluator = ScriptedEvaluator()
    unit = turn_unit(refund_conversation(verified=True))

    async with judging(tmp_path, setup(evaluator)) as found:
        for submitted in (unit, changed(unit, "Done.", revision=1), replace(unit, revision=2)):
            await found.pipeline.submit(submitted)
            await found.pipeline.drain()

    first, second, again = found.sink.verdicts
    assert len(evaluator.asked) == 2
    assert (again.id, again.supersedes, again.revision) == (first.id, second.id, 2)


async def test_a_later_revision_replaces_one_that_still_waits(tmp_path):
    evaluator = ScriptedEvaluator(hold=True)
    held = turn_unit(refund_conversation(verified=True, conversation_id="first"))
    unit = turn_unit(refund_conversation(verified=True, conversation_id="second"))
    limits = replace(PipelineLimits(), max_concurrency=1)

    async with judging(tmp_path, setup(evaluator), limits=limits) as found:
        for submitted in (held, unit, changed(unit, "Done.", revision=1)):
            await found.pipeline.submit(submitted)
        await until(lambda: found.metric("adhere_judging_decisions_total", kind="superseded") == 1)
        evaluator.release()
        await found.pipeline.drain()

    assert [asked.turn.output for asked in evaluator.asked] == [held.turn.output, "Done."]


async def test_an_error_is_never_a_score(tmp_path):
    broken = ScriptedEvaluator(
        lambda *_: Judgement(outcome=Outcome.ERROR, score=0.0, label="fail", error_type="malformed")
    )

    async with judging(tmp_path, setup(broken)) as found:
        await found.pipeline.submit(turn_unit(refund_conversation(verified=True)))
        await found.pipeline.drain()
        record = await found.explain("refund")

    assert [(verdict.score, verdict.label) for verdict in found.sink.verdicts] == [(None, None)]
    assert record.decisions[0].decision.kind is DecisionKind.FAILED
    assert "malformed" in record.decisions[0].decision.reason


@pytest.mark.parametrize("score", [None, -0.1, 1.1, float("nan")], ids=str)
async def test_a_score_that_makes_no_sense_is_an_error(tmp_path, score):
    strange = ScriptedEvaluator(lambda *_: Judgement(outcome=Outcome.PASS, score=score))

    async with judging(tmp_path, setup(strange)) as found:
        await found.pipeline.submit(turn_unit(refund_conversation(verified=True)))
        await found.pipeline.drain()

    verdict = found.sink.verdicts[0]
    assert (verdict.outcome, verdict.score, verdict.error_type) == (Outcome.ERROR, None, "invalid_score")


async def test_not_assessable_is_decided_and_handed_over(tmp_path):
    mute = ScriptedEvaluator(
        lambda *_: Judgement(outcome=Outcome.NOT_ASSESSABLE, error_type="no_judge_configured", reason="No judge.")
    )

    async with judging(tmp_path, setup(mute, immediate=True)) as found:
        await found.pipeline.submit(turn_unit(refund_conversation(verified=True)))
        await found.pipeline.drain()
        record = await found.explain("refund")

    assert record.decisions[0].decision.kind is DecisionKind.NOT_ASSESSABLE
    assert record.decisions[0].decision.reason == "no_judge_configured: No judge."
    assert found.metric("adhere_judging_decisions_total", reason="no_judge_configured") == 1


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"sample": 0.0}, DecisionKind.SAMPLED_OUT),
        ({"agents": ("other-*",)}, DecisionKind.FILTERED),
        ({"services": ("billing",)}, DecisionKind.FILTERED),
    ],
    ids=["sample", "agent", "service"],
)
async def test_what_is_not_selected_is_decided_without_asking(tmp_path, changes, kind):
    evaluator = ScriptedEvaluator()

    async with judging(tmp_path, setup(evaluator, **changes)) as found:
        await found.pipeline.submit(turn_unit(refund_conversation(verified=True)))
        await found.pipeline.drain()
        record = await found.explain("refund")

    assert evaluator.asked == []
    assert found.sink.verdicts == []
    assert [entry.decision.kind for entry in record.decisions] == [kind]


async def test_an_incomplete_turn_is_left_out_unless_asked_for(tmp_path):
    careful, eager = ScriptedEvaluator(name="careful"), ScriptedEvaluator(name="eager")
    unit = turn_unit(ConversationBuilder("open").turn("Hi", status=TurnStatus.INCOMPLETE).build())

    async with judging(tmp_path, setup(careful), setup(eager, judge_incomplete=True)) as found:
        await found.pipeline.submit(unit)
        await found.pipeline.drain()
        record = await found.explain("open")

    kinds = {entry.decision.evaluator: entry.decision.kind for entry in record.decisions}
    assert kinds == {"careful": DecisionKind.INCOMPLETE, "eager": DecisionKind.JUDGED}


async def test_settled_means_decided_or_on_disk(tmp_path):
    settled: list[str] = []
    slow = ScriptedEvaluator(name="slow", hold=True)

    async with judging(tmp_path, setup(slow), setup(ScriptedEvaluator(name="quick"), immediate=True)) as found:
        await found.pipeline.submit(
            turn_unit(refund_conversation(verified=True)), on_settled=lambda: settled.append("refund")
        )
        await until(lambda: bool(settled))
        record = await found.explain("refund")
        slow.release()
        await found.pipeline.drain()

    assert [entry.decision.evaluator for entry in record.decisions] == ["quick"]
    assert [job.evaluator for job in record.waiting] == ["slow"]


async def test_a_slow_judge_holds_up_neither_submission_nor_the_immediate_evaluators(tmp_path):
    slow, quick = ScriptedEvaluator(name="slow", hold=True), ScriptedEvaluator(name="quick")
    units = [turn_unit(refund_conversation(verified=True, conversation_id=f"c{n}")) for n in range(30)]
    limits = replace(PipelineLimits(), queue_items=2, max_concurrency=3)

    async with judging(tmp_path, setup(slow), setup(quick, immediate=True), limits=limits) as found:
        for unit in units:
            await found.pipeline.submit(unit)
        await until(lambda: len(quick.asked) == 30)
        slow.release()
        await found.pipeline.drain()

    assert len(slow.asked) == 30
    assert slow.most_at_once == 3


async def test_a_refusing_sink_is_given_every_verdict_again(tmp_path):
    sink = KeepingSink(refuse_first=3)

    async with judging(tmp_path, setup(ScriptedEvaluator()), sink=sink) as found:
        for n in range(2):
            await found.pipeline.submit(turn_unit(refund_conversation(verified=True, conversation_id=f"c{n}")))
        await until(lambda: sink.refusals_left < 3)
        await advance_until(found.clock, lambda: len(sink.verdicts) == 2)

    assert {verdict.conversation_id for verdict in sink.verdicts} == {"c0", "c1"}
    assert found.metric("adhere_judging_hand_over_failures_total") == 3


async def test_ids_that_are_no_unicode_are_judged_all_the_same(tmp_path):
    conversation = refund_conversation(verified=True, conversation_id="a")
    unit = turn_unit(replace(conversation, conversation_id="bad\udc80id", agent=Agent(name="x\udc80")))

    async with judging(
        tmp_path, setup(ScriptedEvaluator()), setup(ScriptedEvaluator(name="b"), immediate=True)
    ) as found:
        await found.pipeline.submit(unit)
        await found.pipeline.drain()

    assert {verdict.conversation_id for verdict in found.sink.verdicts} == {"bad\\udc80id"}


async def test_after_shutdown_nothing_is_taken_and_what_was_is_done(tmp_path):
    async with judging(tmp_path, setup(ScriptedEvaluator(), immediate=True)) as found:
        await found.pipeline.submit(turn_unit(refund_conversation(verified=True)))
        await found.pipeline.shutdown(5)
        await found.pipeline.shutdown(5)
        with pytest.raises(StoreUnavailableError):
            await found.pipeline.submit(turn_unit(refund_conversation(verified=True)))

    assert len(found.sink.verdicts) == 1
    assert found.metric("adhere_judging_submitted_total") == 1


async def test_shutdown_before_start_is_safe(tmp_path):
    found = Judging(tmp_path, setup(ScriptedEvaluator()))

    await found.pipeline.shutdown(1)
    await found.pipeline.start()
    await found.pipeline.wait()

    found.store.close()


async def test_a_suspected_injection_is_counted_whatever_the_outcome(tmp_path):
    def suspecting(unit, asked_before):
        return replace(passing(unit, asked_before), details={"injection_suspected": True})

    async with judging(tmp_path, setup(ScriptedEvaluator(suspecting))) as found:
        await found.pipeline.submit(turn_unit(refund_conversation(verified=True)))
        await found.pipeline.drain()

        assert found.metric("adhere_judging_injections_suspected_total", evaluator="scripted") == 1
