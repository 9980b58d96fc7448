import pytest

from evaluators.conversation_completeness.factory import make_conversation_completeness
from evaluators.errors import EvaluatorConfigError
from evaluators.nearest import did_you_mean
from evaluators.options import OptionReader
from evaluators.registry import EvaluatorRegistry, EvaluatorRequest
from evaluators.role_adherence.factory import make_role_adherence
from evaluators.task_adherence.factory import make_task_adherence
from evaluators.verdict import UnitKind

FACTORIES = (make_task_adherence, make_role_adherence, make_conversation_completeness)


@pytest.mark.parametrize(
    ("factory", "options", "message"),
    [
        (
            make_task_adherence,
            {"include_reasons": True},
            "include_reasons is not a known key; did you mean 'inclu",
        ),
        (make_task_adherence, {"zzz": 1}, "zzz is not a known key; known are doubt, include_reason, safety_refusal."),
        (make_task_adherence, {"include_reason": "yes"}, "is 'yes' and must be true or false"),
        (make_role_adherence, {"scale": "likert"}, "must be one of graded, binary"),
        (make_role_adherence, {"threshold": 1.2}, "is 1.2 and must be a number from 0 to 1"),
        (make_role_adherence, {"threshold": True}, "must be a number"),
        (make_role_adherence, {"threshold": float("nan")}, "must be a number"),
        (make_role_adherence, {"role": ""}, "must be a text that is not empty"),
        (make_role_adherence, {"policies": [1]}, "must be a text or a list of texts"),
        (make_conversation_completeness, {"strict_mode": 1}, "must be true or false"),
        (make_conversation_completeness, {"without_intention": "1"}, "must be one of not_assessable, pass"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_wrong_options_are_refused_in_one_sentence(factory, options, message):
    with pytest.raises(EvaluatorConfigError, match="adherence-1") as raised:
        factory(EvaluatorRequest(name="adherence-1", options=options))

    assert message in str(raised.value)
    assert str(raised.value).endswith(("?", "."))


def test_something_else_than_a_judge_is_refused():
    with pytest.raises(EvaluatorConfigError, match="given a str to ask"):
        make_task_adherence(EvaluatorRequest(name="t", judge="gpt"))


@pytest.mark.parametrize("name", ["task_adherence", "role_adherence", "conversation_completeness"])
def test_the_registry_makes_each_by_its_name(name):
    evaluator = EvaluatorRegistry(plugins=()).make(name, EvaluatorRequest(name=name))

    assert evaluator.name == name


@pytest.mark.parametrize("factory", FACTORIES)
def test_name_and_unit_come_from_the_request(factory):
    evaluator = factory(EvaluatorRequest(name="mine", unit_kind=UnitKind.TURN))

    assert (evaluator.name, evaluator.unit_kind, evaluator.judge_name) == ("mine", UnitKind.TURN, "none")


@pytest.mark.parametrize(
    ("factory", "options"),
    [
        (make_task_adherence, {"include_reason": False}),
        (make_role_adherence, {"role": "A pirate."}),
        (make_role_adherence, {"inabilities": ["Give refunds."]}),
        (make_role_adherence, {"threshold": 0.5}),
        (make_role_adherence, {"scale": "binary"}),
        (make_conversation_completeness, {"strict_mode": True}),
        (make_conversation_completeness, {"threshold": 0.9}),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_what_changes_the_verdict_changes_the_rubrics_version(factory, options):
    plain = factory(EvaluatorRequest(name="x"))
    changed = factory(EvaluatorRequest(name="x", options=options))

    assert plain.rubric_version == factory(EvaluatorRequest(name="y")).rubric_version
    assert plain.rubric_version != changed.rubric_version


def test_every_mistake_in_the_options_is_told_at_once():
    wrong = {"scale": "binari", "threshold": 7, "policies": [1], "capabilites": ["Book."], "include_reason": "no"}

    with pytest.raises(EvaluatorConfigError) as raised:
        make_role_adherence(EvaluatorRequest(name="clerk", options=wrong))

    assert sorted(str(raised.value).splitlines()) == [
        "clerk.capabilites is not a known key; did you mean 'capabilities'?",
        "clerk.include_reason is 'no' and must be true or false.",
        "clerk.policies is [1] and must be a text or a list of texts.",
        "clerk.scale is 'binari' and must be one of graded, binary; did you mean 'binary'?",
        "clerk.threshold is 7 and must be a number from 0 to 1.",
    ]


def test_a_list_may_be_empty_only_where_nothing_is_the_default():
    reader = OptionReader("x", {"none": [], "some": [], "few": []})

    assert reader.texts("none", default=()) == ()
    reader.texts("some", default=("a",))
    reader.texts("few")
    with pytest.raises(EvaluatorConfigError) as raised:
        reader.finish()

    assert [line.split(" ")[0] for line in str(raised.value).splitlines()] == ["x.some", "x.few"]


@pytest.mark.parametrize(
    ("word", "end"),
    [("shel", "did you mean 'shell'?"), (7, "known are shell, pearl."), ("", "known are shell, pearl.")],
)
def test_a_name_that_is_not_known_has_a_way_out(word, end):
    assert did_you_mean(word, ("shell", "pearl")) == end


def test_where_nothing_is_known_that_is_said():
    assert did_you_mean("shell", ()) == "there is none."
