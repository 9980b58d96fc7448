"""Loads and validates the configuration as a whole; every problem is reported at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from adhere.config.document import read_document
from adhere.config.environment import expand
from adhere.config.model import Config
from adhere.errors import ConfigError
from evaluators.wrong_options import sentences


def load_config(path: Path | None, *, environ: Mapping[str, str] | None = None) -> Config:
    """The configuration in a file, or the defaults without one. Raises ConfigError with every problem found."""
    document = read_document(path) if path is not None else {}
    return parse_config(document, source=str(path or "defaults"), environ=os.environ if environ is None else environ)


def parse_config(document: Mapping[str, Any], *, source: str, environ: Mapping[str, str]) -> Config:
    problems: list[str] = []
    expanded = expand(document, environ, problems=problems)
    if problems:
        raise ConfigError([f"{source}: {problem}" for problem in problems])
    try:
        return Config.model_validate(expanded)
    except ValidationError as err:
        problems = sentences(err, Config, given=document)
        raise ConfigError([f"{source}: {problem}" for problem in problems]) from err
