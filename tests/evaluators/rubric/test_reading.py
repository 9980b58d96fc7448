"""Rubrics are read strictly, with every problem at once, and written so that reading gives the same again."""

from __future__ import annotations

import pytest

from evaluators.rubric.model import Example, Rubric
from evaluators.rubric.writing import written
from evaluators.strict_yaml import parse_yaml, write_yaml
from evaluators.verdict import UnitKind
from tests.support.rubrics import problems_of, rubric

FULL = """
name: refund_manners
about: How the agent talks about refunds.
on: turn
combine: mean
threshold: 0.7
rating: true
given:
  Opening hours: [Monday to Friday]
criteria:
  - The agent never promises a date for a refund.
  - name: apology
    ask: The agent apologises for what went wrong, once.
    applies: The user complains.
    weight: 2
    required: true
    kind: duty
    source: Always apologise once.
    examples:
      - {text: "Sorry that the cover was torn.", answer: yes}
      - {text: "Torn covers happen.", answer: no, why: It makes light of the complaint.}
"""


def test_a_rubric_is_read_with_all_that_it_says():
    value = parse_yaml(FULL)

    found = rubric(*value.pop("criteria"), **value)

    first, second = found.criteria
    assert (found.name, found.on, found.combine, found.threshold) == ("refund_manners", UnitKind.TURN, "mean", 0.7)
    assert (first.name, first.weight, first.required) == ("c1", 1.0, False)
    assert (second.name, second.weight, second.required, second.kind) == ("apology", 2.0, True, "duty")
    assert second.examples[1] == Example("Torn covers happen.", "no", "It makes light of the complaint.")
    assert found.given == {"Opening hours": ("Monday to Friday",)}


def test_what_is_written_reads_as_the_same_rubric():
    value = parse_yaml(FULL)
    found = rubric(*value.pop("criteria"), **value)

    again = parse_yaml(write_yaml(written(found)))

    assert rubric(*again.pop("criteria"), **again) == found


@pytest.mark.parametrize(("combine", "threshold"), [("all", 1.0), ("mean", 0.5), ("min", 0.5)])
def test_the_threshold_follows_from_how_the_score_is_made(combine, threshold):
    assert rubric("It holds.", combine=combine).threshold == threshold


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("be nice", "rubric is 'be nice' and must be a mapping with `criteria`."),
        ({}, "rubric.criteria is not given and must be a list of statements"),
        ({"criteria": []}, "rubric.criteria is [] and must be a list of statements"),
        ({"criteria": [7]}, "rubric.criteria[0] is 7 and must be a statement, or a mapping with `ask`."),
        ({"criteria": [{"name": "a"}]}, "rubric.criteria[0].ask is not given and must be a statement"),
        ({"criteria": [{"name": "a b", "ask": "x"}]}, "rubric.criteria[0].name is 'a b' and must be letters, digits"),
        (
            {"criteria": [{"ask": "x", "wieght": 2}]},
            "rubric.criteria[0].wieght is not a known key; did you mean",
        ),
        ({"criteria": [{"ask": "x", "weight": 0}]}, "rubric.criteria[0].weight is 0 and must be above 0"),
        ({"criteria": [{"ask": "x", "weight": -1}]}, "weight is -1 and must be a number from 0 to 1000"),
        ({"criteria": ["x"], "combine": "sum"}, "rubric.combine is 'sum' and must be one of all, mean, min."),
        ({"criteria": ["x"], "on": "span"}, "rubric.on is 'span' and must be"),
        ({"criteria": ["x"], "threshold": 3}, "rubric.threshold is 3 and must be a number from 0 to 1."),
        ({"criteria": ["x"], "each_turn": "yes"}, "rubric.each_turn is 'yes' and must be true or false."),
        (
            {"criteria": [{"name": "a", "ask": "x"}, {"name": "a", "ask": "y"}]},
            "rubric.criteria: two criteria are named 'a'; names must differ.",
        ),
        ({"criteria": ["x"] * 41}, "rubric.criteria has 41 criteria and may have 40; make it several rubrics."),
        ({"criteria": ["x" * 1001]}, "at most 1000 characters long, and has 1001"),
        ({"criteria": [{"ask": "x", "examples": "one"}]}, "examples is 'one' and must be a list of at most 8"),
        (
            {"criteria": [{"ask": "x", "examples": [{"text": "y", "answer": "maybe"}]}]},
            "examples[0].answer is 'maybe' and must be one of yes, no, not_applicable, cannot_assess.",
        ),
        (
            {"criteria": ["x"], "needs": {"topics": "Topics"}},
            "rubric needs the option topics: Topics, a list of texts.",
        ),
        ({"criteria": ["x"], "needs": {"topics": 1}}, "rubric.needs.topics is 1 and must be a heading."),
        ({"criteria": ["x"], "given": {"Topics": 3}}, "rubric.given.Topics is 3 and must be a list of texts."),
        ({"criteria": ["x"], "given": []}, "rubric.given is [] and must be a mapping."),
    ],
    ids=lambda value: str(value)[:40] if not isinstance(value, str) else None,
)
def test_mistakes_are_named_with_their_place(value, problem):
    found = problems_of(value)

    assert any(problem in one for one in found), found


def test_every_problem_is_told_at_once():
    value = {"criteria": [{"ask": "x", "weight": "much"}, {"name": "b"}], "combine": "sum", "extra": 1}

    assert len(problems_of(value)) == 4


def test_the_version_follows_what_an_answer_depends_on_and_nothing_else():
    base = rubric({"name": "a", "ask": "It holds."})

    def version(**changes: object) -> str:
        return rubric({"name": "a", "ask": "It holds.", **changes}).version

    assert version(kind="duty", source="Words.") == base.version
    assert rubric({"name": "a", "ask": "It holds."}, name="another").version == base.version
    changed = [version(ask="It does not."), version(weight=2), version(applies="Always."), version(required=True)]
    changed.append(rubric({"name": "a", "ask": "It holds."}, combine="mean").version)
    changed.append(rubric({"name": "a", "ask": "It holds."}, given={"Topics": ["x"]}).version)
    assert len({base.version, *changed}) == 7


def test_lists_of_the_configuration_stand_under_their_heading():
    problems: list[str] = []
    from evaluators.rubric.reading import read_rubric

    found = read_rubric(
        {"criteria": ["x"], "needs": {"topics": "Allowed topics"}},
        place="rubric",
        problems=problems,
        lists={"topics": ("billing",)},
    )

    assert problems == []
    assert isinstance(found, Rubric)
    assert found.given == {"Allowed topics": ("billing",)}
