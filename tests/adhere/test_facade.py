"""What `import adhere` gives, and what it does not load."""

from __future__ import annotations

import subprocess
import sys

import pytest

import adhere
from adhere import facade


def test_the_names_are_there_sorted_and_the_facades():
    assert sorted(adhere.__all__) == sorted(facade.__all__)
    assert adhere.__all__ == facade.__all__
    assert all(getattr(adhere, name) is getattr(facade, name) for name in adhere.__all__)


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = adhere.nothing


def test_the_package_alone_loads_nothing():
    code = "import adhere, sys; print(sorted({'evaluators', 'collector', 'pydantic'} & set(sys.modules)))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({}, None),
        ({"OPENAI_API_KEY": "sk-1"}, ("gpt-5-mini", "https://api.openai.com/v1", "sk-1")),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, ("gpt-5-mini", "http://127.0.0.1:1/v1", None)),
    ],
    ids=["nothing", "key", "address"],
)
def test_the_judge_of_the_environment(environ, found):
    judge = adhere.judge_from_environment(environ=environ)

    assert found == (judge and (judge.model, judge.base_url, judge.api_key and judge.api_key.get_secret_value()))


def test_a_model_of_ones_own():
    judge = adhere.judge_from_environment("small", environ={"OPENAI_API_KEY": "sk-1"})

    assert judge is not None
    assert judge.model == "small"
