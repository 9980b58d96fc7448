from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from docs.generate.evaluator_texts import REQUIRED
from evaluators.errors import EvaluatorConfigError
from evaluators.registry import ENTRY_POINT_GROUP, EvaluatorRegistry, EvaluatorRequest
from tests.support.evaluators import ScriptedEvaluator


def make_scripted(request):
    return ScriptedEvaluator(name=request.name)


def make_nothing(request):
    raise RuntimeError("no licence")


def plugin(name, attribute, module=__name__):
    return EntryPoint(name=name, value=f"{module}:{attribute}", group=ENTRY_POINT_GROUP)


PLUGINS = [
    plugin("scripted", "make_scripted"),
    plugin("broken", "make_nothing"),
    plugin("gone", "x", module="no_such_module"),
    plugin("rules", "make_nothing"),
]


def test_a_plugin_is_made_by_its_name():
    made = EvaluatorRegistry(plugins=PLUGINS).make("scripted", EvaluatorRequest(name="mine"))

    assert made.name == "mine"


@pytest.mark.parametrize(("name", "word"), [("broken", "no licence"), ("gone", "no_such_module")])
def test_a_plugin_that_fails_is_named_and_the_others_still_load(name, word):
    registry = EvaluatorRegistry(plugins=PLUGINS)

    with pytest.raises(EvaluatorConfigError, match=word) as caught:
        registry.make(name, EvaluatorRequest(name="mine"))

    assert "'mine'" in str(caught.value)
    assert registry.make("scripted", EvaluatorRequest(name="other")).name == "other"


def test_a_plugin_does_not_take_the_name_of_a_built_in_evaluator():
    made = EvaluatorRegistry(plugins=PLUGINS).make("rules", EvaluatorRequest(name="rules"))

    assert made.judge_name == "builtin"


def test_an_unknown_name_is_told_with_the_nearest_one():
    with pytest.raises(EvaluatorConfigError, match="did you mean 'scripted'"):
        EvaluatorRegistry(plugins=PLUGINS).make("scriptd", EvaluatorRequest(name="x"))


def test_every_built_in_name_can_be_made_without_a_judge():
    registry = EvaluatorRegistry(plugins=())

    for name in registry.names:
        assert registry.make(name, EvaluatorRequest(name=name, options=REQUIRED.get(name, {}))).name == name
