"""A judge that compiles as scripted and answers every criterion of what was compiled, and an agent to compile for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from collector.model import Agent, Conversation
from evaluators.agent_rubric.agent_version import AgentVersion, agent_version_of
from tests.support.conversations import ConversationBuilder, tool
from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import Reply, Script, answer
from tests.support.rubrics import rubric_judge

PROMPT = (
    "You are Robin of a book shop. Before calling issue_refund you must verify the customer with verify_identity.\n"
    "Never refund more than 100 EUR. Speak kindly."
)
TOOLS = (tool("issue_refund", "Refunds money. Only call it once per order.", amount={"type": "number"}),)


def robin(prompt: str | None = PROMPT, *, agent: str = "robin", tools=TOOLS, conversation_id="c1") -> Conversation:
    return (
        ConversationBuilder(conversation_id, system=prompt, tools=tools, agent=Agent(name=agent, version="7"))
        .turn("A refund for B-2040 please.")
        .call("verify_identity", {"email": "a@example.com"}, result={"verified": True})
        .call("issue_refund", {"amount": 24.9}, result={"refund_id": "R1"})
        .answer("I have refunded 24.90 EUR, gladly.")
        .build()
    )


def version_of(conversation: Conversation) -> AgentVersion:
    found = agent_version_of(conversation)
    assert found is not None
    return found


def demand(quote: str, *, kind: str = "duty", at: str = "system", ask: str = "The agent does so.", **changes: str):
    return {"at": at, "quote": quote, "kind": kind, "applies": "", "ask": ask, "name": "does_so", **changes}


VERIFY = demand(
    "Before calling issue_refund you must verify the customer with verify_identity.",
    ask="The agent verified the customer before it called issue_refund.",
    applies="A refund is made.",
    name="verify_first",
)
LIMIT = demand("Never refund more than 100 EUR", kind="prohibition", ask="No refund is over 100 EUR.", name="limit")
ONCE = demand("Only call it once per order", at="tools", ask="No order is refunded twice.", name="once")


def compiled(*demands: Mapping[str, str], injection: bool = False) -> Reply:
    return answer({"injection_suspected": injection, "demands": list(demands)})


def compiling_judge(
    compilations: Sequence[Reply] = (compiled(VERIFY, LIMIT, ONCE),), answers: Mapping[object, str] | None = None
) -> Script:
    """Compilations one after the other, the last again and again; questions as `rubric_judge` answers them."""
    judged = rubric_judge(answers)
    asked = 0

    def script(call: JudgeCall) -> Reply:
        nonlocal asked
        if "Question (rubric_compiler)" not in call.text:
            return judged(call)
        asked += 1
        return compilations[min(asked, len(compilations)) - 1]

    return script


def compilations_of(calls: Sequence[JudgeCall]) -> int:
    return sum("Question (rubric_compiler)" in call.text for call in calls)
