"""What is carried from turn to turn, in a judging pipeline that is stopped and fed again."""

from __future__ import annotations

from dataclasses import replace

from evaluators.store.states import KeptState, StoredStates
from evaluators.task_adherence.evaluator import TaskAdherence
from tests.bench.growing_conversation_bench import growing_conversation
from tests.support.clock import ManualClock
from tests.support.conversations import turn_unit
from tests.support.endpoints import in_process_judge
from tests.support.honest_judge import honest
from tests.support.judge_call import JudgeCall
from tests.support.judging import judging, setup
from tests.support.record_reader import read_record


class StatesOfThePipeline:
    """The ledger in the pipeline's own store, which opens after the evaluators are made."""

    def __init__(self) -> None:
        self.ledger: StoredStates | None = None

    async def recall(self, chain, prefixes) -> KeptState | None:
        return await self.ledger.recall(chain, prefixes)

    async def keep(self, chain, prefix, state) -> None:
        await self.ledger.keep(chain, prefix, state)


async def judged(folder, units) -> tuple[list[str], list[JudgeCall]]:
    """A process that judges these units and ends; verdict ids in their order, and what it asked."""
    judge, endpoint = in_process_judge(honest)
    states = StatesOfThePipeline()
    async with judging(folder, setup(TaskAdherence(judge=judge, states=states))) as found:
        states.ledger = StoredStates(found.store, clock=ManualClock())
        for unit in units:
            await found.pipeline.submit(unit)
        await found.pipeline.drain()
        return [verdict.id for verdict in found.sink.verdicts], endpoint.calls


def units(turns: int):
    conversation = growing_conversation(turns)
    return [turn_unit(conversation, index) for index in range(turns)]


async def test_turns_that_come_all_at_once_are_still_judged_one_after_the_other(tmp_path):
    _, calls = await judged(tmp_path, units(9))

    assert sorted(read_record(call.text).turns[-1] for call in calls) == list(range(9))
    assert [read_record(call.text).turns for call in calls[5:]] == [[4, 5], [5, 6], [6, 7], [7, 8]]


async def test_a_restart_goes_on_with_what_was_carried_and_asks_nothing_again(tmp_path):
    ids, _ = await judged(tmp_path, units(6))

    more, calls = await judged(tmp_path, units(8))

    assert len(ids) == 6
    assert len(more) == 2
    assert [read_record(call.text).turns for call in calls] == [[5, 6], [6, 7]]


async def test_a_verdict_has_the_same_id_whether_anything_was_carried_or_not(tmp_path):
    for name in ("grown", "at once"):
        (tmp_path / name).mkdir()

    grown, _ = await judged(tmp_path / "grown", units(7))
    alone, calls = await judged(tmp_path / "at once", units(7)[6:])

    assert read_record(calls[0].text).turns == list(range(7))
    assert alone == grown[6:]


async def test_a_changed_turn_is_judged_with_what_was_carried_before_it(tmp_path):
    before = units(7)
    await judged(tmp_path, before)
    conversation = before[-1].conversation
    turns = [*conversation.turns[:5], replace(conversation.turns[5], output="Something else."), conversation.turns[6]]

    _, calls = await judged(tmp_path, [turn_unit(replace(conversation, turns=tuple(turns)), revision=1)])

    assert [read_record(call.text).turns for call in calls] == [[4, 5, 6]]
