"""Rubrics in YAML files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaluators.errors import EvaluatorConfigError
from evaluators.strict_yaml import YamlTextError, parse_yaml

_MAX_BYTES = 1 << 20


def read_rubric_file(path: Path) -> Any:
    """The plain values in it; raises `EvaluatorConfigError`."""
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES + 1)
    except OSError as err:
        raise EvaluatorConfigError(f"The rubric {path} cannot be read: {err.strerror}.") from err
    if len(text) > _MAX_BYTES:
        raise EvaluatorConfigError(f"The rubric {path} is over 1 MiB; that is no rubric.")
    try:
        return parse_yaml(text)
    except YamlTextError as err:
        raise EvaluatorConfigError(f"The rubric {path} is no valid YAML: {err}.") from err
