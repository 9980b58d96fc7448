"""What a PromQL expression names: metrics, recorded series and labels. Reads what our own queries are written in."""

from __future__ import annotations

import re

from docs.generate.metrics import Family

SET_BY_OTHERS = frozenset({"instance", "job", "le", "process", "source"})
"""Labels that Prometheus sets, or that mark one of our two processes."""
_WORDS = frozenset({"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring", "group_left"})
_TEXT = re.compile(r"\"[^\"]*\"|'[^']*'")
_MATCHERS = re.compile(r"\{([^}]*)\}")
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left)\s*\(([^)]*)\)")
_WINDOW = re.compile(r"\[[^\]]*\]")
_DURATION = re.compile(r"\b\d+(?:ms|[smhdwy])\b")
_NAME = re.compile(r"(?<![$\w:.])[A-Za-z_:][\w:]*")


def series_in(expr: str) -> set[str]:
    """Names of series, histograms as their families; functions and labels are none."""
    bare = _TEXT.sub("", expr)
    for part in (_MATCHERS, _GROUPING, _WINDOW, _DURATION):
        bare = part.sub(" ", bare)
    names = {
        found.group()
        for found in _NAME.finditer(bare)
        if found.group() not in _WORDS and not bare[found.end() :].lstrip().startswith("(")
    }
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}


def labels_in(expr: str) -> set[str]:
    """Labels that are matched or grouped by."""
    matched = {name for part in _MATCHERS.findall(expr) for name in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", part)}
    grouped = {name.strip() for part in _GROUPING.findall(expr) for name in part.split(",")}
    return matched | grouped - {""}


def labels_of(name: str, families: dict[str, Family]) -> set[str]:
    """Those that a metric has, and those in the name of a recorded series: its level."""
    if ":" in name:
        level = name.partition(":")[0]
        known = {label for family in families.values() for label in family.labels}
        return {label for label in known if re.search(rf"(^|_){label}(_|$)", level)}
    return set(families[name].labels) if name in families else set()
