"""The generated parts of the documents are what the code gives, and cover it."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

from adhere.config import config_schema
from docs.generate.evaluator_texts import COMMON, OPTIONS, RULE_KEYS
from docs.generate.evaluators import options_by_evaluator
from docs.generate.instrumentations import captures
from docs.generate.options import options_of
from docs.generate.pages import CORPUS_PARTS, DOCS, PARTS, parts_of, rendered
from evaluators.pipeline import setup
from evaluators.rules.declared import _COMMON, _FORMS
from exporters import kinds
from tests.support.documents import ROOT

PAGES = sorted(DOCS.glob("*.md"))
PACKAGES = ("adhere", "collector", "evaluators", "exporters")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_is_what_the_code_gives(path: Path) -> None:
    page = path.read_text(encoding="utf-8")

    assert rendered(page, PARTS) == page, "run `uv run poe docs`"


@pytest.mark.corpus
@pytest.mark.skipif(not captures(), reason="The folder of real captures is not beside the checkout.")
def test_the_table_of_instrumentations_is_what_the_captures_give() -> None:
    page = (DOCS / "instrumentations.md").read_text(encoding="utf-8")

    assert rendered(page, CORPUS_PARTS) == page, "run `uv run poe docs`"


def test_every_part_stands_on_a_page() -> None:
    placed = [name for path in PAGES for name in parts_of(path.read_text(encoding="utf-8"))]

    assert sorted(placed) == sorted([*PARTS, *CORPUS_PARTS])


def test_every_option_is_described() -> None:
    options = options_of(config_schema())

    assert [option.path for option in options if not option.description] == []


@pytest.mark.parametrize("kind", [found.name for found in pkgutil.iter_modules(kinds.__path__)])
def test_every_option_of_an_exporter_is_described(kind: str) -> None:
    options = options_of(import_module(f"{kinds.__name__}.{kind}").KIND.options.model_json_schema())

    assert [option.path for option in options if not option.description] == []


def test_every_option_of_an_evaluator_is_described() -> None:
    assert {kind: set(options) for kind, options in options_by_evaluator().items()} == {
        kind: set(texts) for kind, texts in OPTIONS.items()
    }
    assert set(COMMON) == set(setup._OWN_KEYS)


def test_every_key_of_a_rule_is_described() -> None:
    known = {*_COMMON, *(key for form in _FORMS.values() for key in form.keys)}

    assert known == set(RULE_KEYS)


def test_every_metric_that_the_code_makes_is_on_the_page() -> None:
    made = re.compile(r"(?:Counter|Gauge|Histogram|Summary|Info|MetricFamily)\(\s*\"(adhere_\w+)\"")
    texts = [path.read_text(encoding="utf-8") for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")

    names = {name for text in texts for name in made.findall(text)}

    assert len(names) > 60
    assert [name for name in sorted(names) if f"`{name}`" not in page and f"`{name}_total`" not in page] == []
