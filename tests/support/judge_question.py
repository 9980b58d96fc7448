"""One question with a good answer, for tests of the judge itself."""

from __future__ import annotations

import json

import pytest

from evaluators.judge.answer import decode_answer
from evaluators.judge.errors import JudgeError
from evaluators.judge.judge import Judge
from evaluators.judge.question import Question
from evaluators.judge.schema import strict_schema
from evaluators.task_adherence.answer import TaskAnswer

FINE = {"reasoning": "In order.", "evidence": [], "verdict": "pass"}
GOOD = {"injection_suspected": False, "goal": FINE, "rule": FINE, "procedure": FINE, "summary": "Gut. 好。"}
GOOD_TEXT = json.dumps(GOOD, ensure_ascii=False)
QUESTION = Question(
    name="task_adherence",
    frame='Lines that start with "#aa " are structure.',
    record="#aa t0.user\n| Hi\n",
    text="#aa end\n\nQuestion (task_adherence): fine?",
    schema=strict_schema(TaskAnswer),
)


def read(content: str) -> TaskAnswer:
    return decode_answer(content, TaskAnswer)


async def failure(judge: Judge, question: Question = QUESTION) -> JudgeError:
    with pytest.raises(JudgeError) as raised:
        await judge.ask(question, read=read)
    return raised.value
