"""A running sidecar, set up as the documents say: plug-ins are at work, and every metric it shows is on the page."""

from __future__ import annotations

import asyncio
import os
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from adhere.demo.recordings import bundled
from adhere.demo.sidecar import started
from adhere.run.data_dir import Addresses
from collector.clock import SystemClock
from collector.relay.destination import Destination
from collector.relay.replay import replay
from collector.relay.senders import open_sender
from docs.generate.pages import DOCS
from tests.support.documents import PLUG_IN, blocks
from tests.support.installed import install
from tests.support.running_adhere import write_config
from tests.support.until import until

ROW = re.compile(r"^\| `(adhere_\w+)` \| (\w+) \| ([^|]+) \| (.+) \|$", re.MULTILINE)


def configuration() -> dict[str, Any]:
    """That of the plug-in's page, with everything on that has metrics of its own."""
    (block,) = blocks("yaml plug-in")
    found = yaml.safe_load(block.text)
    found["exporters"] += ["prometheus", "jsonl"]
    # Nothing listens there: what is counted while a destination is down is shown as well.
    found["relay"] = [{"name": "nowhere", "endpoint": "http://127.0.0.1:9"}]
    found["judge"] = {"base_url": "http://127.0.0.1:9/v1", "model": "nobody"}
    return found


def plug_in(folder: Path) -> str:
    folder.mkdir()
    (project,) = blocks("toml")
    texts = [block.text for block in blocks("python") if block.text.startswith(PLUG_IN)]
    modules = {text.partition("\n")[0].removeprefix("# "): text for text in texts}
    install(folder, pyproject=project.text, modules=modules)
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


def documented() -> Mapping[str, tuple[str, set[str], str]]:
    """Type, labels and meaning of each metric on the page."""
    page = (DOCS / "metrics.md").read_text(encoding="utf-8")
    return {name: (kind, set(re.findall(r"`(\w+)`", labels)), text) for name, kind, labels, text in ROW.findall(page)}


def shown(metric: Metric) -> tuple[str, str, set[str], str]:
    name = f"{metric.name}_total" if metric.type == "counter" else metric.name
    labels = {label for sample in metric.samples for label in sample.labels} - {"le"}
    return name, metric.type, labels, metric.documentation


async def send(addresses: Addresses, scenario: str) -> None:
    (recording,) = [one for one in bundled() if one.scenario == scenario]
    destination = Destination(endpoint=f"http://{addresses.http}", protocol="http/protobuf", name="test")
    sender = open_sender(destination)
    try:
        await asyncio.wait_for(
            replay(recording.requests, sender, clock=SystemClock(), rng=random.Random(0)), timeout=30
        )
    finally:
        await sender.close()


@pytest.mark.timeout(180)
async def test_plug_ins_are_at_work_and_every_metric_is_documented(tmp_path: Path) -> None:
    config = write_config(tmp_path, **configuration())
    audit_log = tmp_path / "data" / "audit.log"

    async with started(config, environ={"PYTHONPATH": plug_in(tmp_path / "packages")}) as sidecar:
        addresses = await sidecar.ready()
        await send(addresses, "refund_ok")
        await until(lambda: audit_log.exists() and "short_answer" in audit_log.read_text(), timeout_s=90)
        async with httpx2.AsyncClient(trust_env=False) as client:
            page = (await client.get(f"http://{addresses.telemetry}/metrics")).text

    known = documented()
    found = [shown(metric) for metric in text_string_to_metric_families(page) if metric.name.startswith("adhere_")]
    assert len(found) > 60
    for name, kind, labels, meaning in found:
        assert name in known
        assert (kind, meaning) == (known[name][0], known[name][2])
        assert labels - known[name][1] <= {"process"}
