"""A judge whose endpoint is a script in the same process, for what counts requests and has nothing to do with HTTP."""

from __future__ import annotations

from random import Random
from typing import Any

from collector.clock import SystemClock
from evaluators.judge.completion import Completion
from evaluators.judge.config import JudgeConfig
from evaluators.judge.judge import Judge
from evaluators.judge.question import Question, Repair, messages_of
from evaluators.transcript.fence import Fence
from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import Script


class ScriptedEndpoint:
    """Answers each question as the script says; keeps the requests."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.calls: list[JudgeCall] = []

    async def complete(self, question: Question, *, repair: Repair | None, max_tokens: int) -> Completion:
        messages = messages_of(question, merged=False, with_schema=False, repair=repair)
        call = JudgeCall(len(self.calls), "/v1/chat/completions", {}, {"messages": list(messages)})
        self.calls.append(call)
        return Completion(self.script(call).content or "", "stop", None, refused=False)

    async def close(self) -> None:
        pass


def in_process_judge(script: Script, **config: Any) -> tuple[Judge, ScriptedEndpoint]:
    endpoint = ScriptedEndpoint(script)
    settings = JudgeConfig(model="scripted-judge", base_url="http://127.0.0.1:1/v1", **config)
    fence = Fence(b"a secret that is the same in each test")
    return Judge(settings, endpoint=endpoint, fence=fence, clock=SystemClock(), random=Random(1)), endpoint
