from __future__ import annotations

from dataclasses import replace

import pytest

from collector.model import Agent
from evaluators.agent_rubric.agent_version import agent_version_of
from tests.support.agent_rubrics import PROMPT, TOOLS, robin, version_of
from tests.support.conversations import tool


def key(prompt: str | None = PROMPT, **changes) -> str:
    return version_of(robin(prompt, **changes)).key


def test_the_same_prompt_and_tools_are_the_same_version_whatever_was_said():
    other = replace(robin(conversation_id="another"), turns=())

    assert version_of(other).key == key()


@pytest.mark.parametrize(
    "changed",
    [
        key(PROMPT.replace("100", "200")),
        key(PROMPT + " Be brief."),
        key(tools=()),
        key(tools=(tool("issue_refund", "Refunds money.", amount={"type": "number"}),)),
        key(agent="raven"),
    ],
    ids=["limit", "sentence", "no-tools", "description", "agent"],
)
def test_another_demand_is_another_version(changed):
    assert changed != key()


def test_the_declared_version_is_shown_and_not_relied_on():
    declared = replace(robin(), agent=Agent(name="robin", version="8"))

    assert version_of(declared).declared == "8"
    assert version_of(declared).key == key()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Today is 2026-11-30.", "Today is 2027-01-02."),
        ("It is 2026-11-30T15:58:43Z now.", "It is 2026-12-01T08:00:01.250+02:00 now."),
        ("It is 30.11.2026, 9:15.", "It is 01.12.2026, 17:40."),
        ("User 0f8fad5b-d9cb-469f-a165-70867728950e.", "User 7c9e6679-7425-40de-944b-e07fc1f90ae7."),
        ("Write to ann@example.com.", "Write to bob.b@example.org."),
        ("Session 65f1c0ffee12a9b3.", "Session 9a8b7c6d5e4f3a2b."),
    ],
    ids=["date", "time", "european", "uuid", "address", "id"],
)
def test_what_is_made_anew_for_each_conversation_makes_no_new_version(one, other):
    assert key(f"{PROMPT} {one}") == key(f"{PROMPT} {other}")


def test_without_prompt_and_definitions_there_is_no_version():
    bare = robin(None, tools=("issue_refund",))

    assert agent_version_of(bare) is None


def test_the_order_of_tools_does_not_matter():
    more = (*TOOLS, tool("verify_identity", "Checks who it is.", email={"type": "string"}))

    assert key(tools=more) == key(tools=more[::-1])
