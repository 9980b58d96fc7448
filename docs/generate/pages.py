"""Which parts there are, and how a page gets them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from docs.generate import alerts, configuration, costs, dialects, evaluators, gaps, instrumentations, metrics

DOCS = Path(__file__).resolve().parents[1]

_PART = re.compile(r"<!-- generated: (?P<name>[^>]+?) -->\n.*?<!-- end -->", re.DOTALL)

PARTS: Mapping[str, Callable[[], str]] = {
    "alerts": alerts.alert_list,
    "checks": evaluators.checks,
    "common options": evaluators.common_options,
    "configuration options": configuration.configuration_options,
    "cost of conversation_completeness": partial(costs.cost_table, "conversation_completeness"),
    "cost of role_adherence": partial(costs.cost_table, "role_adherence"),
    "cost of rubrics": costs.rubric_costs,
    "cost of task_adherence": partial(costs.cost_table, "task_adherence"),
    "dialects": dialects.dialect_table,
    "evaluator options": evaluators.evaluator_options,
    "evaluators": evaluators.evaluator_overview,
    "exporter options": configuration.exporter_options,
    "gaps": gaps.gap_table,
    "metrics": metrics.prometheus_metrics,
    "otlp metrics": metrics.otlp_metrics,
    "rubric criterion keys": evaluators.criterion_keys,
    "rubric keys": evaluators.rubric_keys,
    "rule forms": evaluators.rule_forms,
    "rule keys": evaluators.rule_keys,
    "turn fields": evaluators.turn_fields,
}
CORPUS_PARTS: Mapping[str, Callable[[], str]] = {"instrumentations": instrumentations.instrumentation_table}
"""These take a while, and need the folder of real captures beside the checkout; without it they stay as they are."""


def rendered(page: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """The page with these parts written anew; others stay as they are."""

    def fill(found: re.Match[str]) -> str:
        write = parts.get(found["name"])
        return f"<!-- generated: {found['name']} -->\n\n{write()}\n\n<!-- end -->" if write else found.group()

    return _PART.sub(fill, page)


def parts_of(page: str) -> list[str]:
    return [found["name"] for found in _PART.finditer(page)]
