"""Reads YAML text into plain values, and writes it.

Safe tags only; a key that stands twice is an error, not a silent override; `on`, `off`, `yes` and `no` are plain words
as in YAML 1.2, so that `on: turn` is the key it looks like.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import yaml


class YamlTextError(ValueError):
    """Says in a few words what is wrong, and where."""


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
        if not isinstance(key, Hashable):
            raise yaml.constructor.ConstructorError(None, None, "a list or mapping is no key", key_node.start_mark)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} stands twice", key_node.start_mark)
        seen.add(key)
    loader.flatten_mapping(node)
    return loader.construct_mapping(node, deep=True)


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def parse_yaml(text: str | bytes) -> Any:
    """Raises `YamlTextError`."""
    try:
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - a subclass of SafeLoader
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as err:
        raise YamlTextError(_first_line(err)) from err


def write_yaml(value: object) -> str:
    """In the order of the keys; words that older readers take for something else are quoted."""
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100)


def _first_line(err: Exception) -> str:
    if isinstance(err, yaml.MarkedYAMLError) and err.problem_mark is not None:
        return f"{err.problem or err.context} at line {err.problem_mark.line + 1}, column {err.problem_mark.column + 1}"
    return str(err).splitlines()[0]
