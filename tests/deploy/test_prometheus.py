"""Rules and dashboards name what there is, and each alert has a test in which it fires and one in which it does not."""

from __future__ import annotations

import functools
import re
from typing import Any

import pytest

from docs.generate.metrics import Family, families
from tests.deploy.documents import dashboards, queries, rule_tests, rules
from tests.support.promql import SET_BY_OTHERS, labels_in, labels_of, series_in

RECORDED = [rule["record"] for rule in rules() if "record" in rule]
ALERTS = [rule for rule in rules() if "alert" in rule]
EXPRESSIONS = {rule.get("record") or rule["alert"]: rule["expr"] for rule in rules()}
FROM_OTHERS = {"up", "adhere_metrics_source_up"}
"""Prometheus's own, and what the page says of itself."""


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_a_rule_names_series_and_labels_that_exist(name: str) -> None:
    check(EXPRESSIONS[name])


@pytest.mark.parametrize("name", dashboards())
def test_a_dashboard_names_series_and_labels_that_exist(name: str) -> None:
    dashboard = dashboards()[name]
    variables = [one["definition"] for one in dashboard["templating"]["list"] if one["type"] == "query"]

    for expr in queries(dashboard).values():
        check(expr)
    for definition in variables:
        metric, label = re.fullmatch(r"label_values\((.+), (\w+)\)", definition).groups()
        check(f"sum by ({label}) ({metric})")


@pytest.mark.parametrize("name", dashboards())
def test_a_dashboard_uses_variables_that_it_has(name: str) -> None:
    dashboard = dashboards()[name]
    has = {one["name"] for one in dashboard["templating"]["list"]}

    used = set(re.findall(r"\$\{?([a-z]\w*)", str(dashboard["panels"]))) | set(
        re.findall(r"\$([a-z]\w*)", str([one.get("definition") for one in dashboard["templating"]["list"]]))
    )

    assert used <= has


def test_every_recorded_series_is_used() -> None:
    used = set().union(*(series_in(expr) for expr in EXPRESSIONS.values()))
    shown = set().union(*(series_in(expr) for one in dashboards().values() for expr in queries(one).values()))

    assert set(RECORDED) - used - shown == set()


@pytest.mark.parametrize("alert", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_is_tested_firing_and_silent(alert: dict[str, Any]) -> None:
    cases = [
        case for one in rule_tests() for case in one.get("alert_rule_test", []) if case["alertname"] == alert["alert"]
    ]

    assert any(case["exp_alerts"] for case in cases)
    assert any(not case["exp_alerts"] for case in cases)


@pytest.mark.parametrize("alert", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_says_how_urgent_it_is_and_what_to_do(alert: dict[str, Any]) -> None:
    assert alert["labels"]["severity"] in {"page", "ticket"}
    assert set(alert["annotations"]) == {"summary", "description"}
    assert alert["annotations"]["description"].endswith(".")


@functools.cache
def known_metrics() -> dict[str, Family]:
    return dict(families())


def check(expr: str) -> None:
    known = known_metrics()
    names = series_in(expr)
    labels = set().union(*(labels_of(name, known) for name in names))

    assert names
    assert names <= {*known, *RECORDED, *FROM_OTHERS}
    assert labels_in(expr) <= labels | SET_BY_OTHERS
