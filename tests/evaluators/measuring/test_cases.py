import json
from dataclasses import replace

import pytest

from collector.model import MessageStep, ToolCallStep, ToolResultStep
from evaluators.errors import EvaluatorConfigError
from evaluators.measuring.cases import case_of, read_cases, unique_cases
from tests.support.judging_cases import ATTACKS, ROLE, TASK, judging_cases

CALLS = [
    {"id": "a", "type": "function", "function": {"name": "look_up", "arguments": '{"id": 1}'}},
    {"id": "b", "type": "function", "function": {"name": "look_up", "arguments": "{broken"}},
]
CHAT = {
    "system": "Be kind.",
    "tools": [{"type": "function", "function": {"name": "look_up", "description": "Finds.", "parameters": {}}}],
    "messages": [
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": "Two things."},
        {"role": "assistant", "content": "Let me see.", "tool_calls": CALLS},
        {"role": "tool", "tool_call_id": "b", "content": "none"},
        {"role": "tool", "tool_call_id": "a", "content": "one"},
        {"role": "assistant", "content": "Found one."},
        {"role": "user", "content": [{"type": "text", "text": "Thanks."}]},
    ],
}
LABELS = {"task_adherence": "fail", "goal": "fail", "rule": "na", "procedure": "pass", "completeness": 0.5}


def line(**changes):
    return {"id": "x", "language": "en", "conversation": CHAT, "labels": LABELS, **changes}


def test_messages_become_turns_with_their_steps():
    turns = case_of(line()).conversation.turns

    assert [(turn.user_input, turn.output) for turn in turns] == [
        (None, "Hello!"),
        ("Two things.", "Found one."),
        ("Thanks.", None),
    ]
    assert turns[1].steps == (
        MessageStep(text="Let me see."),
        ToolCallStep(name="look_up", arguments={"id": 1}, call_id="a", group=0),
        ToolCallStep(name="look_up", arguments="{broken", call_id="b", group=0),
        ToolResultStep(result="none", name="look_up", call_id="b"),
        ToolResultStep(result="one", name="look_up", call_id="a"),
    )


def test_the_kind_of_a_case_shows_in_its_labels():
    role = {"labels": {"turns": [True, False, True], "binary": 0.0}, "deviations": [{"turn": 1, "kind": "tone"}]}
    attack = {"technique": "override", "where": "user", "wants": "pass", "labels": None}
    truth = {"evaluator": "role_adherence", "label": "fail"}

    assert case_of(line()).task.dimensions == {"goal": "fail", "rule": "na", "procedure": "pass"}
    assert case_of(line(**role)).role.turns == (True, False, True)
    assert case_of(line(**attack, truth=truth)).attack.truth.evaluator == "role_adherence"


def test_labels_count_what_users_said_where_the_agent_spoke_first():
    whole = case_of(line(labels={"turns": [True, False, True]}))
    users = case_of(line(labels={"turns": [False, True]}))

    assert [whole.turn_of(index) for index in range(3)] == [0, 1, 2]
    assert [users.turn_of(index) for index in range(2)] == [1, 2]
    assert case_of(line()).turn_of(0) == 1, "a fault's turn as well"


def test_nothing_but_the_conversation_is_in_what_a_judge_may_see():
    plain, labelled = case_of(line()), case_of(line(family="hard_one", fault={"type": "t", "dimension": "goal"}))

    assert replace(plain.conversation) == labelled.conversation


def test_the_same_id_with_other_content_is_another_conversation():
    other = {**CHAT, "system": "Be rude."}

    assert case_of(line()).conversation.key != case_of(line(conversation=other)).conversation.key


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param({"labels": None}, id="no labels"),
        pytest.param({"labels": {"turns": [True] * 4}}, id="labels for other turns"),
        pytest.param({"labels": {"task_adherence": "maybe"}}, id="unknown label"),
        pytest.param({"conversation": {"messages": []}}, id="no turn"),
        pytest.param({"conversation": {"messages": [{"role": "owl", "content": "x"}]}}, id="unknown role"),
        pytest.param({"conversation": {}}, id="no messages"),
        pytest.param({"id": None}, id="no id"),
    ],
)
def test_what_is_no_case_is_named_with_its_line(tmp_path, broken):
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(line()) + "\n" + json.dumps(line(**broken)))

    with pytest.raises(EvaluatorConfigError, match=r"cases\.jsonl, line 2 is no labelled case"):
        list(read_cases(path))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(EvaluatorConfigError, match=r"none\.jsonl cannot be read"):
        list(read_cases(tmp_path / "none.jsonl"))


def test_two_cases_with_one_id_are_refused():
    with pytest.raises(EvaluatorConfigError, match="'x' stands twice"):
        unique_cases([case_of(line()), case_of(line())])


def test_the_labelled_sets_are_whole():
    task, role, attacks = (judging_cases(path) for path in (TASK, ROLE, ATTACKS))

    assert (len(task), len(role), len(attacks)) == (59, 37, 60)
    assert sum(case.task.task_adherence == "fail" for case in task) == 43
    assert sum(turn is False for case in role for turn in case.role.turns) == 36
    assert all(set(case.fault.turns) <= set(range(len(case.conversation.turns))) for case in task if case.fault)
    assert len({case.id for case in [*task, *role, *attacks]}) == 156
