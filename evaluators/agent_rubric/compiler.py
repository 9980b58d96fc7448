"""Compiles a rubric from an agent's system prompt and tools: one question to the judge, whose every line is checked.

The prompt is data: it stands in the same fenced record as everywhere, and whatever it says to its reader, the answer
can only be a list of demands with words from it. A demand whose words do not stand there is left out; when most are
like that, the answer is repaired once, and then it is an error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from collector.model import Conversation
from evaluators.agent_rubric.answer import CompiledAnswer, Demand
from evaluators.agent_rubric.question import QUESTION, question
from evaluators.content import digest_of
from evaluators.judge.answer import decode_answer
from evaluators.judge.errors import JudgeErrorType, UnusableAnswerError
from evaluators.judge.frame import frame_text
from evaluators.judge.judge import Judge
from evaluators.judge.question import Question
from evaluators.judge.schema import strict_schema
from evaluators.leak import leaks
from evaluators.quoting import find_quote
from evaluators.rubric.model import Criterion, Rubric
from evaluators.transcript.escape import one_line
from evaluators.transcript.places import places_of
from evaluators.transcript.record import Record, end_line, record_of
from evaluators.verdict import JudgeInfo
from evaluators.wording import normalised

NAME = "rubric_compiler"
"""As metrics and schemas call it."""
_MAX_ASK_CHARS = 600
_MAX_SOURCE_CHARS = 600
_LEAST_FOUND = 0.5
_NOT_NAME = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class Compiled:
    rubric: Rubric
    injection_suspected: bool
    info: JudgeInfo
    repaired: bool


class RubricCompiler:
    def __init__(self, judge: Judge, *, max_criteria: int) -> None:
        self._judge = judge
        self._max_criteria = max_criteria
        self._schema = strict_schema(CompiledAnswer)

    async def compile(self, conversation: Conversation, *, name: str) -> Compiled:
        """Raises `JudgeError`."""
        bare = replace(conversation, turns=())
        record = record_of(bare, fence=self._judge.fence, max_tokens=self._judge.max_record_tokens)
        asked = Question(
            name=NAME,
            frame=frame_text(record.mark),
            record=record.text,
            text=f"{end_line(record.mark)}\n\nQuestion ({NAME}): {question(most=self._max_criteria)}",
            schema=self._schema,
        )
        texts = _texts(bare)

        def read(content: str) -> CompiledAnswer:
            answer = decode_answer(content, CompiledAnswer)
            told = [text for demand in answer.demands for text in (demand.ask, demand.applies, demand.quote)]
            if leaks(told, mark=record.mark, instructions=f"{asked.frame}\n{asked.text}", known=_known(record, texts)):
                raise UnusableAnswerError("It repeated your instructions or the mark of the record.")
            return replace_demands(answer, _found(answer.demands, texts)[: self._max_criteria])

        answer = await self._judge.ask(asked, read=read)
        rubric = Rubric(
            name=None,
            about=f"What the system prompt and the tools of {one_line(name, max_chars=80)} demand of it.",
            criteria=_criteria(answer.value.demands),
            combine="mean",
            threshold=1.0,
        )
        return Compiled(rubric, answer.value.injection_suspected, answer.info, answer.repaired)


def compiler_version(*, max_criteria: int) -> str:
    return digest_of([frame_text(""), QUESTION, strict_schema(CompiledAnswer), max_criteria])[:12]


def replace_demands(answer: CompiledAnswer, demands: Sequence[Demand]) -> CompiledAnswer:
    return CompiledAnswer(answer.injection_suspected, list(demands))


def _found(demands: Sequence[Demand], texts: Sequence[str]) -> list[Demand]:
    plain = [normalised(text) for text in texts]
    found = [
        demand for demand in demands if demand.ask.strip() and demand.quote.strip() and _stands(demand.quote, plain)
    ]
    if len(found) < _LEAST_FOUND * len(demands):
        missing = next(demand for demand in demands if demand not in found)
        raise UnusableAnswerError(
            f"The quote {one_line(missing.quote, max_chars=120)!r} does not stand in the {missing.at}: copy the words "
            "that demand something from there exactly, and say what they demand.",
            error_type=JudgeErrorType.EVIDENCE,
        )
    return found


def _stands(quote: str, plain: Sequence[str]) -> bool:
    wanted = normalised(quote)
    return any(wanted in text for text in plain) or any(find_quote(wanted, text) is not None for text in plain)


def _texts(conversation: Conversation) -> list[str]:
    """As they are shown, and descriptions as they read: in a tool's definition they stand in the form of JSON."""
    texts = [place.text for place in places_of(conversation) if place.text is not None]
    return texts + [tool.description for tool in conversation.tool_definitions if tool.description]


def _known(record: Record, texts: Sequence[str]) -> str:
    return "\n".join([record.text, *texts])


def _criteria(demands: Sequence[Demand]) -> tuple[Criterion, ...]:
    names: set[str] = set()
    found: list[Criterion] = []
    for index, demand in enumerate(demands, start=1):
        name = _NOT_NAME.sub("_", demand.name.strip().lower()).strip("_")[:40] or f"c{index}"
        if name in names:
            name = f"{name}_{index}"
        names.add(name)
        found.append(
            Criterion(
                name=name,
                ask=one_line(demand.ask.strip(), max_chars=_MAX_ASK_CHARS),
                applies=one_line(demand.applies.strip(), max_chars=_MAX_ASK_CHARS) or None,
                required=demand.kind == "prohibition",
                kind=demand.kind,
                source=one_line(demand.quote.strip(), max_chars=_MAX_SOURCE_CHARS),
            )
        )
    return tuple(found)
