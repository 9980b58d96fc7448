"""Flattened attributes back to the object they were: `a.0.b.c` under the prefix `a` is item 0, key b, key c.

Indices may start anywhere, have holes, and arrive in any order. Keys that are integers make lists, all others objects.
Bounded: at most `MAX_ITEMS` leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_ITEMS = 50_000


def unflatten(attributes: Mapping[str, Any], prefix: str) -> Any:
    """The object under `prefix.`; None where no key has that prefix."""
    start = prefix + "."
    tree: dict[str, Any] = {}
    left = MAX_ITEMS
    for key, value in attributes.items():
        if key.startswith(start):
            _put(tree, key[len(start) :].split("."), value)
            left -= 1
            if not left:
                break
    return _settled(tree) if tree else None


def has_prefix(attributes: Mapping[str, Any], prefix: str) -> bool:
    return any(key.startswith(prefix) for key in attributes)


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for step in path[:-1]:
        child = tree.get(step)
        if not isinstance(child, _Node):
            child = tree[step] = _Node()
        tree = child
    tree.setdefault(path[-1], value)


class _Node(dict[str, Any]):
    """An inner node of the tree, told apart from values that are objects themselves."""


def _settled(tree: Mapping[str, Any]) -> Any:
    if tree and all(key.isdecimal() and len(key) < 10 for key in tree):
        return [_settled_value(tree[key]) for key in sorted(tree, key=int)]
    return {key: _settled_value(value) for key, value in tree.items()}


def _settled_value(value: Any) -> Any:
    return _settled(value) if isinstance(value, _Node) else value
