"""Adhere starts with every configuration of deploy/, and stops in order: only then are all of its parts made."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from adhere.demo.sidecar import started
from tests.deploy.documents import configurations
from tests.support.running_adhere import NO_JUDGE_FROM_ENVIRONMENT

pytestmark = pytest.mark.timeout(300)


def on_free_ports(text: str, folder: Path) -> Path:
    document = yaml.safe_load(text)
    document["data_dir"] = str(folder / "data")
    receivers = document.setdefault("receivers", {})
    for name in ("grpc", "http"):
        receivers.setdefault(name, {})["endpoint"] = "127.0.0.1:0"
    document["telemetry"] = {"endpoint": "127.0.0.1:0"}
    path = folder / "adhere.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


@pytest.mark.parametrize("name", configurations())
async def test_it_starts_and_stops(name: str, tmp_path: Path) -> None:
    config = on_free_ports(configurations()[name], tmp_path)
    environ = {**NO_JUDGE_FROM_ENVIRONMENT, "ADHERE_TOKEN": "a-token-of-this-test"}

    async with started(config, environ=environ) as sidecar:
        addresses = await sidecar.ready()

    assert addresses.telemetry
    assert (tmp_path / "data" / "journal").is_dir()
