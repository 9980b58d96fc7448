"""The complete example of the configuration page is complete."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from adhere.config import config_schema, load_config
from adhere.config.document import read_document
from adhere.run.checks import check_plan
from docs.generate.evaluators import options_by_evaluator
from docs.generate.options import options_of
from evaluators.pipeline.setup import _OWN_KEYS
from exporters.kinds import jsonl, otlp, prometheus
from tests.support.documents import blocks, write_rubrics

OFF = re.compile(r"#(?=[a-z_]+:)")
"""A `#` directly before a key: an option that is off in the example."""
REFERENCE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)")


@pytest.fixture
def everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (example,) = [block for block in blocks("yaml") if "\ndata_dir:" in block.text]
    path = tmp_path / "adhere.yaml"
    path.write_text(OFF.sub("", example.text))
    write_rubrics(tmp_path)
    monkeypatch.chdir(tmp_path)
    return path


def paths_in(value: Any, prefix: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield f"{prefix}{key}"
            yield from paths_in(item, f"{prefix}{key}.")
    elif isinstance(value, list):
        for item in value:
            yield from paths_in(item, f"{prefix.removesuffix('.')}[].")


def test_it_holds_with_everything_that_is_off_turned_on(everything: Path) -> None:
    environ = dict.fromkeys(REFERENCE.findall(everything.read_text()), "value")

    assert check_plan(load_config(everything, environ=environ), environ=environ)


def test_every_option_of_the_configuration_is_in_it(everything: Path) -> None:
    wanted = {one.path for one in options_of(config_schema()) if not one.path.startswith(("evaluators", "exporters"))}

    found = {
        re.sub(r"^judge\.prices\.[^.]+", "judge.prices.NAME", path) for path in paths_in(read_document(everything))
    }

    assert wanted - found == set()


def test_every_option_of_evaluators_is_in_it(everything: Path) -> None:
    entries = [item for entry in read_document(everything)["evaluators"] for item in entry.items()]

    used = {(kind, key) for kind, options in entries for key in options}

    assert {(kind, key) for kind, options in options_by_evaluator().items() for key in options} - used == set()
    assert set(_OWN_KEYS) - {key for _, key in used} == set()


@pytest.mark.parametrize("module", [jsonl, otlp, prometheus], ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_option_of_exporters_is_in_it(everything: Path, module: Any) -> None:
    kind = module.__name__.rpartition(".")[2]
    wanted = {one.path for one in options_of(module.KIND.options.model_json_schema())}

    found = set(paths_in(next(entry[kind] for entry in read_document(everything)["exporters"] if kind in entry)))

    assert wanted - found == set()
