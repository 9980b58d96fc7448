"""The files of deploy/ as the tests read them."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
PROMETHEUS = DEPLOY / "prometheus"


@functools.cache
def rules() -> list[dict[str, Any]]:
    """Every recording and alerting rule."""
    files = [yaml.safe_load(path.read_text()) for path in sorted(PROMETHEUS.glob("*.rules.yaml"))]
    return [rule for file in files for group in file["groups"] for rule in group["rules"]]


@functools.cache
def rule_tests() -> list[dict[str, Any]]:
    files = [yaml.safe_load(path.read_text()) for path in sorted((PROMETHEUS / "tests").glob("*.test.yaml"))]
    return [one for file in files for one in file["tests"]]


def dashboards() -> dict[str, Any]:
    return {path.name: json.loads(path.read_text()) for path in sorted((DEPLOY / "grafana" / "dashboards").glob("*"))}


@functools.cache
def manifests() -> dict[str, list[dict[str, Any]]]:
    """The objects of each file of Kubernetes."""
    return {
        path.name: list(yaml.safe_load_all(path.read_text())) for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    }


def configurations() -> dict[str, str]:
    """Those of Adhere, by where each stands: files, and those in the manifests."""
    files = {f"{path.parent.name}/{path.name}": path.read_text() for path in sorted(DEPLOY.glob("*/adhere.yaml"))}
    maps = {
        f"kubernetes/{name}": one["data"]["adhere.yaml"]
        for name, found in manifests().items()
        for one in found
        if one["kind"] == "ConfigMap"
    }
    return files | maps


def queries(dashboard: Any) -> dict[str, str]:
    """PromQL of each panel's queries, by title and letter."""
    return {
        f"{panel['title']} {target['refId']}": target["expr"]
        for panel in dashboard["panels"]
        for target in panel.get("targets", [])
        if "expr" in target
    }
