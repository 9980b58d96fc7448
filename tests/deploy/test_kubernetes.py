"""The manifests keep to the restricted profile of the Pod Security Standards, and fit the configuration in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.deploy.documents import manifests

VOLUMES = {"configMap", "ephemeral", "persistentVolumeClaim", "emptyDir", "secret", "projected", "downwardAPI", "csi"}
"""Kinds of volume that the profile allows."""


def of_kind(*kinds: str) -> Iterator[tuple[str, Any]]:
    for name, found in manifests().items():
        for one in found:
            if one["kind"] in kinds:
                yield name, one


def pods() -> dict[str, Any]:
    return {name: one["spec"]["template"]["spec"] for name, one in of_kind("Deployment", "StatefulSet")}


def containers(pod: Any) -> list[Any]:
    return [*pod.get("initContainers", []), *pod["containers"]]


def adhere(pod: Any) -> Any:
    (found,) = [one for one in containers(pod) if one["name"] == "adhere"]
    return found


def configuration(name: str) -> Any:
    ((_, found),) = [(file, one) for file, one in of_kind("ConfigMap") if file == name]
    return yaml.safe_load(found["data"]["adhere.yaml"])


@pytest.mark.parametrize("name", pods())
def test_a_pod_keeps_to_the_restricted_profile(name: str) -> None:
    pod = pods()[name]

    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    assert all(set(volume) - {"name"} <= VOLUMES for volume in pod["volumes"])
    for container in containers(pod):
        security = container["securityContext"]
        assert security["allowPrivilegeEscalation"] is False
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert not security.get("privileged", False)
        assert all("hostPort" not in port for port in container.get("ports", []))


@pytest.mark.parametrize("name", pods())
def test_the_namespace_enforces_the_profile(name: str) -> None:
    ((_, namespace),) = [(file, one) for file, one in of_kind("Namespace") if file == name]

    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize("name", pods())
def test_adhere_writes_to_its_volume_only(name: str) -> None:
    container = adhere(pods()[name])
    writable = [mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")]

    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert len(writable) == 1
    assert configuration(name)["data_dir"].startswith(f"{writable[0]}/")


@pytest.mark.parametrize("name", pods())
def test_ports_are_those_of_the_configuration(name: str) -> None:
    config = configuration(name)
    wanted = {config["telemetry"]["endpoint"], *(one["endpoint"] for one in config.get("receivers", {}).values())}

    ports = {port["containerPort"] for port in adhere(pods()[name])["ports"]}

    assert ports == {int(endpoint.rpartition(":")[2]) for endpoint in wanted}


def test_the_service_and_the_network_policy_name_ports_that_there_are() -> None:
    ((_, service),) = of_kind("Service")
    ((_, policy),) = of_kind("NetworkPolicy")
    ports = {port["name"] for port in adhere(pods()["gateway.yaml"])["ports"]}

    assert {port["targetPort"] for port in service["spec"]["ports"]} == ports
    assert {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]} == ports


def test_the_sidecar_does_not_stand_in_the_way_of_its_agent() -> None:
    container = adhere(pods()["sidecar.yaml"])

    assert container["restartPolicy"] == "Always"
    assert "readinessProbe" not in container
    assert "startupProbe" not in container
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"


def test_the_gateway_has_all_probes_and_a_claim_of_its_own() -> None:
    ((_, workload),) = of_kind("StatefulSet")
    container = adhere(workload["spec"]["template"]["spec"])

    assert workload["spec"]["replicas"] == 1
    assert [claim["metadata"]["name"] for claim in workload["spec"]["volumeClaimTemplates"]] == ["data"]
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert "startupProbe" in container


@pytest.mark.parametrize("name", pods())
def test_what_is_kept_fits_the_volume(name: str) -> None:
    config = configuration(name)
    claims = [*of_claims(name)]
    kept = config["journal"]["max_bytes"] + config.get("conversations", {}).get("max_bytes", 2 << 30)

    assert len(claims) == 1
    # Verdicts, waiting content, the outbox and dead letters come on top.
    assert kept + (1 << 30) <= int(claims[0].removesuffix("Gi")) << 30


def of_claims(name: str) -> Iterator[str]:
    for file, workload in of_kind("Deployment", "StatefulSet"):
        spec = workload["spec"]
        volumes = [one["ephemeral"]["volumeClaimTemplate"] for one in pods()[file]["volumes"] if "ephemeral" in one]
        if file == name:
            for claim in (*spec.get("volumeClaimTemplates", []), *volumes):
                yield claim["spec"]["resources"]["requests"]["storage"]
