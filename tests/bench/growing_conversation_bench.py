"""What judging costs when a conversation is judged again after every turn, in prompt tokens.

    python -m tests.bench.growing_conversation_bench

The judge is a script in the process; a token is four characters of the messages. The conversation has a system prompt
with rules, tool definitions, and in each turn a request, a call with its result, and an answer: about 1,250 tokens for
five turns. Nothing here depends on time, so a test holds the figures to their bound and the documents to the figures.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table

from collector.model import Conversation
from evaluators.conversation_completeness.evaluator import ConversationCompleteness
from evaluators.evaluator import Evaluator
from evaluators.judge.judge import Judge
from evaluators.pipeline.setup import make_setup
from evaluators.registry import EvaluatorRegistry
from evaluators.role_adherence.evaluator import RoleAdherence
from evaluators.store.states import StateLedger
from evaluators.task_adherence.evaluator import TaskAdherence
from evaluators.verdict import Outcome, Unit, UnitKind
from tests.support.conversations import ConversationBuilder, conversation_unit, tool, turn_unit
from tests.support.endpoints import in_process_judge
from tests.support.honest_judge import honest
from tests.support.judge_call import JudgeCall
from tests.support.states import StatesInMemory

TURNS = (5, 20, 50)

_SYSTEM = (
    "You are Nilo, the assistant of the Lindenhof clinic. Speak plainly and kindly, in at most three sentences, and "
    "never give medical advice. Before calling book_slot you must call check_insurance, and only go on if it returns "
    "covered=true. State the date and the price and wait for a clear yes before you book or cancel anything. Never "
    "book more than two slots for one person, and never tell anybody about another person's appointments."
)
_TEXT = {"type": "string"}
_TOOLS = (
    tool("find_slots", "Free slots of a department on a day.", department=_TEXT, day=_TEXT),
    tool("check_insurance", "Whether a patient's insurance covers a department.", patient=_TEXT, department=_TEXT),
    tool("book_slot", "Books a slot for a patient.", patient=_TEXT, slot=_TEXT),
    tool("cancel_slot", "Cancels a slot of a patient.", patient=_TEXT, slot=_TEXT),
)
_DEPARTMENTS = ("cardiology", "dermatology", "physiotherapy", "ophthalmology", "radiology")


@dataclass(frozen=True, slots=True)
class Cost:
    """Prompt tokens."""

    once: int
    """For one judgement of the whole."""
    each_turn: int
    """For a judgement after every turn, in all."""
    each_turn_whole: int
    """The same, if each read the whole conversation."""

    @property
    def with_closing(self) -> int:
        """After every turn, and once more when the application says that the conversation ended."""
        return self.each_turn + self.once


def growing_conversation(turns: int) -> Conversation:
    builder = ConversationBuilder("growing", system=_SYSTEM, tools=_TOOLS)
    for n in range(turns):
        department, day = _DEPARTMENTS[n % len(_DEPARTMENTS)], f"2031-03-{n % 28 + 1:02}"
        builder.turn(f"Hello, is there anything free in {department} on {day}, and would my insurance pay for it?")
        slots = [f"{department[:4]}-{n}-{hour}" for hour in ("0830", "1115", "1540")]
        builder.call("find_slots", {"department": department, "day": day}, result={"day": day, "free": slots})
        builder.call(
            "check_insurance",
            {"patient": "P-4471", "department": department},
            result={"patient": "P-4471", "covered": True, "share_eur": 12.5, "valid_until": "2031-12-31"},
        )
        builder.answer(
            f"On {day} there are three free slots in {department}: half past eight, a quarter past eleven and twenty "
            "to four. Your insurance covers the visit, and your own share is 12.50 EUR. Which of them suits you best?"
        )
    return builder.build()


def evaluator(kind: str, judge: Judge, states: StateLedger | None) -> Evaluator:
    match kind:
        case "task_adherence":
            return TaskAdherence(judge=judge, states=states)
        case "role_adherence":
            return RoleAdherence(judge=judge, states=states)
        case "conversation_completeness":
            return ConversationCompleteness(judge=judge, states=states)
        case _:
            options = {"topics": ["appointments"]} if kind == "topic_adherence" else {}
            registry = EvaluatorRegistry(plugins=())
            return make_setup(kind, options, registry=registry, judge=judge, states=states).evaluator


RUBRICS = (
    "agent_rubric",
    "goal_accuracy",
    "intent_resolution",
    "tool_call_accuracy",
    "tool_use",
    "topic_adherence",
)
KINDS = ("task_adherence", "role_adherence", "conversation_completeness")


def unit_of(conversation: Conversation, kind: UnitKind) -> Unit:
    return turn_unit(conversation) if kind is UnitKind.TURN else conversation_unit(conversation)


def tokens_of(call: JudgeCall) -> int:
    return len(call.text) // 4


async def judge_growing(kind: str, turns: int, *, carries: bool) -> list[JudgeCall]:
    """The requests for a judgement after every turn of a conversation that grows."""
    judge, endpoint = in_process_judge(honest)
    found = evaluator(kind, judge, StatesInMemory() if carries else None)
    whole = growing_conversation(turns)
    for count in range(1, turns + 1):
        judgement = await found.evaluate(unit_of(replace(whole, turns=whole.turns[:count]), found.unit_kind))
        assert judgement.outcome is Outcome.PASS, judgement
    return endpoint.calls


def costs(kind: str) -> dict[int, Cost]:
    """By number of turns: what is asked after fewer turns is the same in a longer conversation."""
    carried, read = (
        [tokens_of(call) for call in asyncio.run(judge_growing(kind, max(TURNS), carries=carries))]
        for carries in (True, False)
    )
    return {turns: Cost(read[turns - 1], sum(carried[:turns]), sum(read[:turns])) for turns in TURNS}


def once(kind: str) -> dict[int, int]:
    """Prompt tokens of one judgement of the whole, by number of turns; what comes once a version is left out."""

    async def ask(turns: int) -> int:
        judge, endpoint = in_process_judge(honest)
        found = evaluator(kind, judge, None)
        judgement = await found.evaluate(unit_of(growing_conversation(turns), found.unit_kind))
        assert judgement.outcome is Outcome.PASS, judgement
        return tokens_of(endpoint.calls[-1])

    return {turns: asyncio.run(ask(turns)) for turns in TURNS}


def main() -> None:
    table = Table(
        "evaluator", "turns", "once", "after each turn", "and at its end", "whole each time", title="Prompt tokens"
    )
    for kind in KINDS:
        for turns, cost in costs(kind).items():
            row = (cost.once, cost.each_turn, cost.with_closing, cost.each_turn_whole)
            table.add_row(kind, str(turns), *(f"{tokens:,}" for tokens in row))
    Console().print(table)
    rubrics = Table("evaluator", *map(str, TURNS), title="Prompt tokens of rubrics, judged once, by turns")
    for kind in RUBRICS:
        rubrics.add_row(kind, *(f"{tokens:,}" for tokens in once(kind).values()))
    Console().print(rubrics)


if __name__ == "__main__":
    main()
