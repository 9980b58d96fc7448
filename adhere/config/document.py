"""Reads the configuration file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adhere.errors import ConfigError
from evaluators.strict_yaml import YamlTextError, parse_yaml

_MAX_BYTES = 1 << 20


def read_document(path: Path) -> dict[str, Any]:
    """Raises ConfigError when the file cannot be read, is no YAML, or is no mapping."""
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES + 1)
    except OSError as err:
        raise ConfigError(
            [f"The configuration {path} cannot be read: {err.strerror}; name one that can, or none for the defaults."]
        ) from err
    if len(text) > _MAX_BYTES:
        raise ConfigError([f"The configuration {path} is over 1 MiB; that is no configuration of Adhere."])
    try:
        document = parse_yaml(text)
    except YamlTextError as err:
        raise ConfigError([f"The configuration {path} is no valid YAML: {err}."]) from err
    if document is None:
        return {}
    if not isinstance(document, dict) or not all(isinstance(key, str) for key in document):
        raise ConfigError([f"The configuration {path} must be a mapping of names, such as `relay:`."])
    return document
