from __future__ import annotations

import pytest

from evaluators.errors import EvaluatorConfigError
from evaluators.pipeline.setup import make_setups
from evaluators.registry import EvaluatorRegistry
from evaluators.verdict import UnitKind

REGISTRY = EvaluatorRegistry(plugins=())


def make(*entries):
    return make_setups(entries, registry=REGISTRY, judge=None)


def test_options_of_selection_are_taken_and_the_rest_is_the_evaluators():
    (setup,) = make(
        (
            "rules",
            {
                "as": "refunds",
                "on": "conversation",
                "sample": 0.25,
                "agents": "robin-*",
                "services": ["shop", "bank"],
                "incomplete": "skip",
                "rules": [{"never": "drop_table"}],
            },
        )
    )

    assert (setup.name, setup.evaluator.unit_kind, setup.sample) == ("refunds", UnitKind.CONVERSATION, 0.25)
    assert (setup.agents, setup.services) == (("robin-*",), ("shop", "bank"))
    assert (setup.judge_incomplete, setup.immediate) == (False, True)


def test_without_options_rules_judge_every_turn_at_once():
    (setup,) = make(("rules", {}))

    assert (setup.name, setup.evaluator.unit_kind, setup.sample) == ("rules", UnitKind.TURN, 1.0)
    assert (setup.judge_incomplete, setup.immediate) == (True, True)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (("rulez", {}), "No evaluator is named 'rulez'; did you mean 'rules'?"),
        (("rules", {"on": "turns"}), "rules.on is 'turns' and must be one of turn, conversation; did you mean 'turn'?"),
        (("rules", {"sample": 25}), "rules.sample is 25 and must be a number from 0 to 1."),
        (("rules", {"sample": True}), "rules.sample is True and must be a number from 0 to 1."),
        (("rules", {"agents": [3]}), "rules.agents is [3] and must be a list of names or globs."),
        (
            ("rules", {"incomplete": "skipp"}),
            "rules.incomplete is 'skipp' and must be one of judge, skip; did you",
        ),
        (("rules", {"as": ""}), "rules.as is '' and must be a text that is not empty."),
        (("rules", {"ruels": []}), "rules.ruels is not a known key; did you mean 'rules'?"),
    ],
)
def test_a_problem_is_one_sentence_with_the_way_out(entry, message):
    with pytest.raises(EvaluatorConfigError) as caught:
        make(entry)

    assert message in str(caught.value)


def test_every_problem_is_reported():
    with pytest.raises(EvaluatorConfigError) as caught:
        make(("rules", {"sample": 2}), ("nobody", {}), ("rules", {}), ("rules", {}))

    assert len(str(caught.value).splitlines()) == 3
    assert "Two evaluators are named 'rules'; give one of them another name with `as`." in str(caught.value)


def test_every_problem_of_one_evaluator_is_reported_whoever_reads_the_option():
    options = {"on": "turns", "sample": 5, "resource": 1, "messages": {"over": 1}, "threshold": 7, "foo": 1}

    with pytest.raises(EvaluatorConfigError) as caught:
        make(("role_adherence", options))

    begun = [line.split()[0] for line in str(caught.value).splitlines()]
    assert begun == [f"role_adherence.{key}" for key in options]
