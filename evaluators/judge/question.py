"""What is sent to a judge, before it takes the form that an endpoint understands.

The order is fixed: the frame (the same for every evaluator), the record of the conversation (the same for every
evaluator, and growing by appending), the question last. So the evaluators of one conversation, and one evaluator from
turn to turn, share the beginning of their requests byte for byte, and provider caches hit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from evaluators.judge.errors import UnusableAnswerError
from evaluators.transcript.escape import escape, one_line

_MAX_REPEATED_CHARS = 8000


@dataclass(frozen=True, slots=True)
class Question:
    name: str
    """The evaluator; names the schema."""
    frame: str
    record: str
    """Ends with a line break."""
    text: str
    """Begins with the line that ends the record."""
    schema: Mapping[str, Any]

    def schema_text(self) -> str:
        schema = orjson.dumps(self.schema).decode()
        return f"Answer with one JSON object, and nothing else, that fits this JSON schema:\n{schema}"


@dataclass(frozen=True, slots=True)
class Repair:
    """The second and last try: the answer that was given, and what was wrong with it."""

    content: str
    error: UnusableAnswerError

    def messages(self, question: Question) -> list[dict[str, str]]:
        given = escape(self.content[:_MAX_REPEATED_CHARS]).strip() or "(empty)"
        problem = one_line(self.error.problem, max_chars=1000)
        request = f"Your answer cannot be used. {problem} Answer the question again. {question.schema_text()}"
        return [{"role": "assistant", "content": given}, {"role": "user", "content": request}]


def messages_of(
    question: Question, *, merged: bool, with_schema: bool, repair: Repair | None
) -> Sequence[Mapping[str, str]]:
    """`merged`: in one message, for chat templates without a system role or with strictly alternating roles."""
    text = f"{question.text}\n\n{question.schema_text()}" if with_schema else question.text
    if merged:
        messages = [{"role": "user", "content": f"{question.frame}\n\n{question.record}{text}"}]
    else:
        messages = [
            {"role": "system", "content": question.frame},
            {"role": "user", "content": question.record},
            {"role": "user", "content": text},
        ]
    return messages if repair is None else messages + repair.messages(question)
