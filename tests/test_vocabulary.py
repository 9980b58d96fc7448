"""The words that every part shares are at the bottom: their modules import the standard library and each other only."""

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

VOCABULARY = (
    "adhere.errors",
    "collector.errors",
    "collector.frozen",
    "collector.model",
    "collector.operation",
    "evaluators.errors",
    "evaluators.verdict",
    "exporters.errors",
)


@pytest.mark.parametrize("module", VOCABULARY)
def test_a_vocabulary_module_needs_no_library(module):
    found = importlib.util.find_spec(module)
    assert found is not None
    tree = ast.parse(Path(str(found.origin)).read_text(encoding="utf-8"))

    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)} | {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }

    foreign = {name for name in imported if str(name).partition(".")[0] not in sys.stdlib_module_names}
    assert foreign <= set(VOCABULARY)
