"""An endpoint without a network: gives or raises what it is told, in order, the last one for ever."""

from __future__ import annotations

from evaluators.judge.completion import Completion, Usage
from evaluators.judge.errors import JudgeError, JudgeErrorType
from evaluators.judge.question import Question, Repair


class ScriptedEndpoint:
    def __init__(self, *outcomes: Completion | JudgeErrorType | JudgeError) -> None:
        self._outcomes = outcomes
        self.asked: list[tuple[Question, Repair | None, int]] = []
        self.closed = 0

    async def complete(self, question: Question, *, repair: Repair | None, max_tokens: int) -> Completion:
        outcome = self._outcomes[min(len(self.asked), len(self._outcomes) - 1)]
        self.asked.append((question, repair, max_tokens))
        if isinstance(outcome, JudgeErrorType):
            raise JudgeError(outcome, "Scripted.")
        if isinstance(outcome, JudgeError):
            raise outcome
        return outcome

    async def close(self) -> None:
        self.closed += 1


def completion(content: str, *, finish_reason: str = "stop", usage: Usage | None = None) -> Completion:
    return Completion(content=content, finish_reason=finish_reason, usage=usage, refused=False)
