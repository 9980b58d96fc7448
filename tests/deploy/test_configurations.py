"""Every configuration of Adhere in deploy/ loads and could run, and fits what is around it."""

from __future__ import annotations

import configparser
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from adhere.config import Config, load_config
from adhere.run.checks import check_plan
from tests.deploy.documents import DEPLOY, configurations, manifests

REFERENCE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)")


def load(text: str, folder: Path) -> Config:
    path = folder / "adhere.yaml"
    path.write_text(text)
    environ = dict.fromkeys(REFERENCE.findall(text), "a-value-of-some-length")
    config = load_config(path, environ=environ)
    assert check_plan(config, environ=environ)
    return config


def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text())


def collector(name: str) -> Any:
    return yaml.safe_load((DEPLOY / "otel-collector" / name).read_text())


def unit() -> dict[str, str]:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string((DEPLOY / "systemd" / "adhere.service").read_text())
    return dict(parser["Service"])


def test_there_is_one_for_each_way_to_run_it() -> None:
    assert set(configurations()) == {
        "compose/adhere.yaml",
        "otel-collector/adhere.yaml",
        "systemd/adhere.yaml",
        "kubernetes/gateway.yaml",
        "kubernetes/sidecar.yaml",
    }


@pytest.mark.parametrize("name", configurations())
def test_it_loads_and_could_run(name: str, tmp_path: Path) -> None:
    config = load(configurations()[name], tmp_path)

    # The dashboards and alerts need the one, the list of flagged turns the other.
    assert {"prometheus", "otlp"} <= {entry.name for entry in config.exporters}


@pytest.mark.parametrize("name", configurations())
def test_what_others_can_reach_asks_for_a_token(name: str, tmp_path: Path) -> None:
    receivers = load(configurations()[name], tmp_path).receivers

    for receiver in (receivers.grpc, receivers.http):
        assert receiver.endpoint.startswith("127.0.0.1:") or receiver.bearer_token is not None


def test_compose_mounts_what_there_is() -> None:
    mounts = [mount for service in compose()["services"].values() for mount in service["volumes"]]
    sources = [mount.split(":")[0] for mount in mounts]

    missing = [one for one in sources if one.startswith(".") and not (DEPLOY / "compose" / one).resolve().exists()]
    named = {one for one in sources if not one.startswith(".")}

    assert missing == []
    assert named == set(compose()["volumes"])


def test_compose_opens_ports_on_loopback_only_and_takes_pinned_images() -> None:
    services = compose()["services"]
    ports = [port for service in services.values() for port in service.get("ports", [])]

    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert all(re.search(r":v?\d+\.\d+\.\d+$", one["image"]) for name, one in services.items() if name != "adhere")


def test_compose_names_its_variables_in_the_example() -> None:
    text = (DEPLOY / "compose" / "compose.yaml").read_text()
    example = (DEPLOY / "compose" / ".env.example").read_text()

    assert set(re.findall(r"\$\{(\w+)", text)) == set(re.findall(r"^(\w+)=", example, re.MULTILINE))


def test_addresses_in_the_network_of_compose_are_services_in_it(tmp_path: Path) -> None:
    services = set(compose()["services"])
    prometheus = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yaml").read_text())
    sources = yaml.safe_load((DEPLOY / "grafana" / "provisioning" / "datasources" / "adhere.yaml").read_text())
    config = load(configurations()["compose/adhere.yaml"], tmp_path)
    targets = [
        *prometheus["scrape_configs"][0]["static_configs"][0]["targets"],
        *prometheus["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"],
        *(one["url"] for one in sources["datasources"]),
        *(str(one.endpoint) for one in config.relay),
        compose()["services"]["collector"]["environment"]["ADHERE_ENDPOINT"],
    ]

    named = {re.sub(r"^http://", "", target).split(":")[0] for target in targets}

    assert named <= services
    assert config.telemetry.endpoint.endswith(targets[0].partition(":")[2])
    assert prometheus["scrape_configs"][0]["job_name"] == "adhere"


def test_whoever_stops_adhere_waits_for_its_orderly_stop(tmp_path: Path) -> None:
    stop_s = load(configurations()["systemd/adhere.yaml"], tmp_path).shutdown_s
    pods = [
        one["spec"]["template"]["spec"] for found in manifests().values() for one in found if "template" in str(one)
    ]
    waits = [
        compose()["services"]["adhere"]["stop_grace_period"].removesuffix("s"),
        unit()["TimeoutStopSec"],
        *(pod["terminationGracePeriodSeconds"] for pod in pods),
    ]

    assert len(waits) == 4
    assert all(int(wait) >= stop_s + 5 for wait in waits)


def test_the_unit_runs_the_configuration_beside_it() -> None:
    service = unit()

    assert service["ExecStart"].endswith("adhere run --config /etc/adhere/adhere.yaml")
    assert service["StateDirectory"] == "adhere"
    assert service["KillMode"] == "mixed"
    assert service["RestartPreventExitStatus"] == "2"


@pytest.mark.parametrize("name", ["in-front.yaml", "behind.yaml"])
def test_the_collector_that_is_built_has_what_its_configurations_name(name: str) -> None:
    built = collector("builder.yaml")
    modules = " ".join(
        item["gomod"].replace("_", "") for kind in built.values() if isinstance(kind, list) for item in kind
    )
    config = collector(name)

    for kind in ("extensions", "receivers", "processors", "exporters"):
        for component in config[kind]:
            word = component.partition("/")[0].replace("_", "").replace("otlpgrpc", "otlp")
            assert re.search(rf"/{word}({kind[:-1]})? ", modules), component


def test_collectors_and_adhere_on_one_machine_find_each_other(tmp_path: Path) -> None:
    adhere = load(configurations()["otel-collector/adhere.yaml"], tmp_path)
    front = collector("in-front.yaml")["exporters"]["otlp_grpc/adhere"]

    assert front["endpoint"].endswith(f":-{adhere.receivers.grpc.endpoint}}}")
    assert front["retry_on_failure"]["max_elapsed_time"] == "0s"
    assert front["sending_queue"]["storage"] == "file_storage/queue"
