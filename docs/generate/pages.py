"""Which parts there are, and how a page gets them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from docs.generate import configuration, evaluators, gaps, metrics

DOCS = Path(__file__).resolve().parents[1]

_PART = re.compile(r"<!-- generated: (?P<name>[^>]+?) -->\n.*?<!-- end -->", re.DOTALL)

PARTS: Mapping[str, Callable[[], str]] = {
    "checks": evaluators.checks,
    "common options": evaluators.common_options,
    "configuration options": configuration.configuration_options,
    "evaluator options": evaluators.evaluator_options,
    "evaluators": evaluators.evaluator_overview,
    "exporter options": configuration.exporter_options,
    "gaps": gaps.gap_table,
    "metrics": metrics.prometheus_metrics,
    "otlp metrics": metrics.otlp_metrics,
    "rule forms": evaluators.rule_forms,
    "rule keys": evaluators.rule_keys,
}


def rendered(page: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """The page with every generated part written anew. Raises KeyError for a part that nothing gives."""

    def fill(found: re.Match[str]) -> str:
        return f"<!-- generated: {found['name']} -->\n\n{parts[found['name']]()}\n\n<!-- end -->"

    return _PART.sub(fill, page)


def parts_of(page: str) -> list[str]:
    return [found["name"] for found in _PART.finditer(page)]
