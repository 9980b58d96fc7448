"""Reads a YAML file into plain values.

Safe tags only; a key that stands twice is an error, not a silent override; `on`, `off`, `yes` and `no` are plain words
as in YAML 1.2, so that `on: turn` is the key it looks like.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from adhere.errors import ConfigError

_MAX_BYTES = 1 << 20


class _StrictLoader(yaml.SafeLoader):
    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML reads it from the class
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_StrictLoader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


def _mapping(loader: _StrictLoader, node: yaml.MappingNode) -> dict[Hashable, Any]:
    seen: set[Hashable] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} stands twice", key_node.start_mark)
        seen.add(key)
    loader.flatten_mapping(node)
    return loader.construct_mapping(node, deep=True)


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_document(path: Path) -> dict[str, Any]:
    """Raises ConfigError when the file cannot be read, is no YAML, or is no mapping."""
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES + 1)
    except OSError as err:
        raise ConfigError([f"The configuration {path} cannot be read: {err.strerror}."]) from err
    if len(text) > _MAX_BYTES:
        raise ConfigError([f"The configuration {path} is over 1 MiB; that is no configuration of Adhere."])
    try:
        document = yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - a subclass of SafeLoader
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as err:
        raise ConfigError([f"The configuration {path} is no valid YAML: {_first_line(err)}."]) from err
    if document is None:
        return {}
    if not isinstance(document, dict) or not all(isinstance(key, str) for key in document):
        raise ConfigError([f"The configuration {path} must be a mapping of names, such as `relay:`."])
    return document


def _first_line(err: Exception) -> str:
    if isinstance(err, yaml.MarkedYAMLError) and err.problem_mark is not None:
        return f"{err.problem or err.context} at line {err.problem_mark.line + 1}, column {err.problem_mark.column + 1}"
    return str(err).splitlines()[0]
