"""README and the documents: their code blocks, each with where it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUG_IN = "# shop_checks/"
"""How a Python block begins that is a module of the documents' plug-in."""
_FENCE = re.compile(r"^```(?P<language>[a-z]+(?: [a-z-]+)?)?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    path: Path
    line: int
    language: str
    text: str


def documents() -> Sequence[Path]:
    return [
        *sorted(ROOT.glob("*.md")),
        *(path for name in ("deploy", "docs") for path in sorted((ROOT / name).rglob("*.md"))),
    ]


def blocks(*languages: str) -> list[Block]:
    """The fenced blocks in these languages, of all documents."""
    found = []
    for path in documents():
        text = path.read_text(encoding="utf-8")
        for match in _FENCE.finditer(text):
            language = match["language"] or ""
            if language in languages:
                line = text.count("\n", 0, match.start()) + 1
                found.append(Block(path, line, language, match["text"]))
    return found


def params(*languages: str) -> list[Any]:
    return [pytest.param(block, id=f"{block.path.name}:{block.line}") for block in blocks(*languages)]


def write_rubrics(folder: Path) -> None:
    """The rubrics that the documents show, each under the name in its first line."""
    for block in blocks("yaml rubric"):
        path = folder / block.text.partition("\n")[0].removeprefix("# ")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
