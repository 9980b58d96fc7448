"""What is in deploy/, checked by the tool that it is written for."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.documents import DEPLOY, dashboards, queries
from tests.integration.installed import collector, from_debian, from_go, from_pypi

pytestmark = pytest.mark.timeout(1800)

RULES = sorted((DEPLOY / "prometheus").glob("*.rules.yaml"))
COMPOSE = "github.com/compose-spec/compose-go/v2/cmd@v2.16.2"
KUBERNETES = "kubernetes-validate==1.37.0"
GRAFANA = "grafana-foundation-sdk==1769699998!10.1.0"
NOT_IN_GRAFANAS_MODEL = {"definition", "tableType", "spss"}
"""What Grafana writes itself and its model of that version leaves out: of a variable, and of a search in Tempo."""
THROUGH_THE_MODEL = """
import json, sys
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
register_default_plugins()
print(JSONEncoder(sort_keys=True).encode(Dashboard.from_json(json.load(open(sys.argv[1])))))
"""
OLDEST_KUBERNETES = "1.29"
"""The first with sidecars as they are used."""


def run(command: Sequence[str | Path], **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        env={"PATH": "/usr/sbin:/usr/bin:/bin", **environ},
    )


def check(command: Sequence[str | Path], **environ: str) -> str:
    done = run(command, **environ)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


def with_a_wrong_key(path: Path, right: str, wrong: str, folder: Path) -> Path:
    """What a tool that looks refuses."""
    text = path.read_text()
    assert right in text
    copy = folder / path.name
    copy.write_text(text.replace(right, wrong))
    return copy


def test_rules_do_what_their_tests_say() -> None:
    promtool = from_debian("prometheus", "promtool")

    check([promtool, "check", "rules", *RULES])
    out = check([promtool, "test", "rules", *sorted((DEPLOY / "prometheus" / "tests").glob("*.test.yaml"))])

    assert out.count("SUCCESS") == 3


def test_rules_that_are_changed_fail_their_tests(tmp_path: Path) -> None:
    promtool = from_debian("prometheus", "promtool")
    folder = tmp_path / "prometheus"
    shutil.copytree(DEPLOY / "prometheus", folder)
    with_a_wrong_key(folder / "alerts.rules.yaml", "max_bytes > 0.7", "max_bytes > 0.9", folder)

    done = run([promtool, "test", "rules", folder / "tests" / "pipeline.test.yaml"])

    assert done.returncode == 1
    assert "AdhereJournalNearBound" in done.stdout + done.stderr


def test_prometheus_takes_its_configuration(tmp_path: Path) -> None:
    promtool = from_debian("prometheus", "promtool")
    (tmp_path / "rules").mkdir()
    for path in RULES:
        shutil.copy(path, tmp_path / "rules")
    shutil.copy(DEPLOY / "prometheus" / "prometheus.yaml", tmp_path)

    out = check([promtool, "check", "config", tmp_path / "prometheus.yaml"])

    assert "2 rule files found" in out


@pytest.mark.parametrize("name", dashboards())
def test_queries_of_a_dashboard_are_promql(name: str, tmp_path: Path) -> None:
    promtool = from_debian("prometheus", "promtool")
    written = [re.sub(r"\$__\w+", "5m", expr) for expr in queries(dashboards()[name]).values()]
    rules = [{"record": f"query:{number}", "expr": expr} for number, expr in enumerate(written)]
    path = tmp_path / "queries.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))

    check([promtool, "check", "rules", path])


@pytest.mark.parametrize("name", dashboards())
def test_a_dashboard_is_one_in_grafanas_own_model(name: str, tmp_path: Path) -> None:
    python = from_pypi("grafana-model", [GRAFANA]) / "python"
    path = DEPLOY / "grafana" / "dashboards" / name
    wrong = with_a_wrong_key(path, '"legendFormat"', '"legend"', tmp_path)

    read, read_wrong = (json.loads(check([python, "-c", THROUGH_THE_MODEL, one])) for one in (path, wrong))

    assert set(differing(dashboards()[name], read)) <= NOT_IN_GRAFANAS_MODEL
    assert "legend" in differing(json.loads(wrong.read_text()), read_wrong)


def differing(ours: Any, read: Any, key: str = "") -> list[str]:
    """Keys of ours that the model did not know, or knows with another value."""
    match ours, read:
        case dict(), dict():
            return [found for name in ours for found in differing(ours[name], read.get(name), name)]
        case list(), list() if len(ours) == len(read):
            return [found for one, other in zip(ours, read, strict=True) for found in differing(one, other, key)]
        case _:
            return [] if ours == read else [key]


def test_alertmanager_takes_its_configuration() -> None:
    amtool = from_debian("prometheus-alertmanager", "amtool")
    path = DEPLOY / "alertmanager" / "alertmanager.yaml"

    check([amtool, "check-config", path])
    page = check([amtool, "config", "routes", "test", f"--config.file={path}", "severity=page"])
    ticket = check([amtool, "config", "routes", "test", f"--config.file={path}", "severity=ticket"])

    assert (page.split()[0], ticket.split()[0]) == ("on-call", "team")


def test_compose_is_a_compose_file(tmp_path: Path) -> None:
    compose = from_go("compose-go", COMPOSE)
    path = DEPLOY / "compose" / "compose.yaml"

    model = yaml.safe_load(check([compose, "-no-interpolation", path]))
    wrong = run([compose, "-no-interpolation", with_a_wrong_key(path, "read_only:", "readonly:", tmp_path)])

    assert set(model["services"]) == {"adhere", "alertmanager", "collector", "grafana", "prometheus", "tempo"}
    assert "readonly" in wrong.stderr


@pytest.mark.parametrize("version", [OLDEST_KUBERNETES, "1.37"])
def test_manifests_keep_to_the_schemas_of_kubernetes(version: str, tmp_path: Path) -> None:
    validate = from_pypi("kubernetes-validate", [KUBERNETES]) / "kubernetes-validate"
    gateway = DEPLOY / "kubernetes" / "gateway.yaml"
    strict = ("--strict", "--kubernetes-version", version)

    out = check([validate, *strict, gateway, gateway.with_name("sidecar.yaml")])
    wrong = run([validate, *strict, with_a_wrong_key(gateway, "readinessProbe:", "readynessProbe:", tmp_path)])

    assert out.count(" passed for resource ") == 8
    assert wrong.returncode != 0
    assert "readynessProbe" in wrong.stdout + wrong.stderr


def test_the_unit_is_one_that_systemd_takes_and_is_shut_in(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd is not on this machine.")
    # Its command is not installed here.
    unit = with_a_wrong_key(DEPLOY / "systemd" / "adhere.service", "/opt/adhere/bin/adhere", "/bin/true", tmp_path)

    said = check([analyze, "verify", unit])
    exposure = check([analyze, "security", "--offline=true", "--threshold=20", unit])

    assert said == ""
    assert "Overall exposure level" in exposure


@pytest.mark.parametrize("name", ["in-front.yaml", "behind.yaml"])
def test_the_collector_takes_its_configurations(name: str, tmp_path: Path) -> None:
    otelcol = collector(DEPLOY / "otel-collector" / "builder.yaml")
    path = DEPLOY / "otel-collector" / name
    environ = {
        "ADHERE_TOKEN": "t",
        "BACKEND_ENDPOINT": "http://127.0.0.1:1",
        "QUEUE_DIRECTORY": str(tmp_path / "queue"),
    }

    check([otelcol, "validate", "--config", path], **environ)
    wrong = run(
        [otelcol, "validate", "--config", with_a_wrong_key(path, "limit_mib: 512", "limit: 512", tmp_path)], **environ
    )

    assert wrong.returncode != 0
    assert "invalid keys: limit" in wrong.stderr
