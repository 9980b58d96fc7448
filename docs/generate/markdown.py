"""Markdown tables, with what would break a cell escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def code(value: object) -> str:
    return f"`{value}`"


def sentence(text: str) -> str:
    """The same with a capital letter at its head and a full stop at its end, for cells that hold a description."""
    text = text.strip()
    if not text:
        return ""
    head = text if text.startswith("`") else text[0].upper() + text[1:]
    return head if head.endswith((".", "?", "!")) else f"{head}."


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
