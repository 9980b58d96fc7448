"""Each statement has a test that carries its number."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.parity.statements import STATEMENTS

_HERE = Path(__file__).parent


def numbers() -> set[int]:
    """Of all `@pytest.mark.parity(...)` on the tests of this folder, whichever of them run now."""
    found: set[int] = set()
    for path in _HERE.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for mark in node.decorator_list:
                    if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.parity":
                        found |= {ast.literal_eval(argument) for argument in mark.args}
    return found


def test_each_statement_has_a_test() -> None:
    shown = numbers()

    missing = {number: words for number, words in STATEMENTS.items() if number not in shown}

    assert missing == {}


def test_no_test_has_a_number_that_is_none() -> None:
    assert numbers() <= set(STATEMENTS)
    assert set(STATEMENTS) == set(range(1, 76))
