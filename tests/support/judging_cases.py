"""The labelled conversations in `tests/judging`."""

from __future__ import annotations

from pathlib import Path

from evaluators.measuring.cases import Case, read_cases

FOLDER = Path(__file__).resolve().parents[1] / "judging"
TASK, ROLE, ATTACKS = (FOLDER / f"{name}.jsonl" for name in ("task", "role", "attacks"))


def judging_cases(path: Path, *, every: int = 1) -> list[Case]:
    return list(read_cases(path))[::every]
