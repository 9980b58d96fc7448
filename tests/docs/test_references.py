"""What the documents refer to is there: files of the code, other pages and their sections, words of the vocabulary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evaluators.judge.errors import JudgeErrorType
from evaluators.verdict import DecisionKind, Outcome
from tests.support.documents import ROOT, documents

PATH = re.compile(r"`((?:adhere|collector|evaluators|exporters|tests|docs|deploy|\.ci)/[\w./-]*)`")
LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchor(heading: str) -> str:
    """As GitHub makes them."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_files_of_the_code_exist(path: Path) -> None:
    named = PATH.findall(path.read_text(encoding="utf-8"))

    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    broken = []
    for target, section in LINK.findall(path.read_text(encoding="utf-8")):
        page = (path.parent / target).resolve() if target else path
        if not page.exists():
            broken.append(target)
        elif section and section not in map(anchor, HEADING.findall(page.read_text(encoding="utf-8"))):
            broken.append(f"{target}#{section}")

    assert broken == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.png")), ids=lambda path: path.name)
def test_pictures_are_small_and_shown(path: Path) -> None:
    pages = [page.read_text(encoding="utf-8") for page in documents() if page.parent == path.parent]

    assert path.stat().st_size < 200_000
    assert any(f"]({path.name})" in page for page in pages)


@pytest.mark.parametrize("word", [*Outcome, *DecisionKind, *JudgeErrorType], ids=str)
def test_every_outcome_decision_and_error_is_explained(word: str) -> None:
    page = (ROOT / "docs" / "evaluators.md").read_text(encoding="utf-8")

    assert f"`{word}`" in page or f"`not_assessable: {word}`" in page
