from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from exporters.errors import ExporterConfigError
from exporters.exporter import BackgroundExporter
from exporters.jsonl import JsonlExporter
from exporters.metrics import ExportMetrics
from exporters.registry import ExporterContext, build_exporters, check_exporter, known_exporters
from tests.support.clock import ManualClock
from tests.support.verdicts import verdict

PLUG_IN = """
from exporters.registry import ExporterKind, ExporterOptions
from tests.support.scripted_exporter import ScriptedExporter

KIND = ExporterKind(ExporterOptions, lambda name, options, context: [ScriptedExporter(name)])
NOT_A_KIND = 7
"""


@pytest.fixture
def context(tmp_path: Path) -> ExporterContext:
    registry = CollectorRegistry()
    return ExporterContext(
        clock=ManualClock(),
        registry=registry,
        metrics=ExportMetrics(registry),
        data_dir=tmp_path,
        environ={},
        version="1.2.3",
        instance_id="host-1",
    )


async def names(kind: str, options: dict[str, Any], context: ExporterContext) -> list[str]:
    exporters = build_exporters(kind, options, context=context)
    for exporter in exporters:
        await exporter.close()
    return [exporter.name for exporter in exporters]


def with_environment(context: ExporterContext, **environ: str) -> ExporterContext:
    return ExporterContext(
        clock=context.clock,
        registry=context.registry,
        metrics=context.metrics,
        data_dir=context.data_dir,
        environ=environ,
        version=context.version,
        instance_id=context.instance_id,
    )


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        ("prometheus", {}, ["prometheus"]),
        ("jsonl", {"name": "archive"}, ["archive"]),
        ("otlp", {"endpoint": "http://tempo:4318"}, ["otlp/events", "otlp/spans", "otlp/metrics"]),
        ("otlp", {"endpoint": "http://tempo:4317", "events": False, "metrics": False}, ["otlp/spans"]),
        (
            "otlp",
            {"endpoint": "http://a:4318", "name": "grafana", "spans": False},
            ["grafana/events", "grafana/metrics"],
        ),
    ],
    ids=["prometheus", "named", "otlp", "spans_only", "named_otlp"],
)
async def test_an_entry_becomes_its_destinations(
    context: ExporterContext, kind: str, options: dict[str, Any], expected: list[str]
):
    assert await names(kind, options, context) == expected


async def test_the_environment_names_the_address(context: ExporterContext):
    everywhere = with_environment(context, OTEL_EXPORTER_OTLP_ENDPOINT="http://backend:4318")
    spans_only = with_environment(context, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="http://backend:4318/v1/traces")

    assert await names("otlp", {}, everywhere) == ["otlp/events", "otlp/spans", "otlp/metrics"]
    assert await names("otlp", {}, spans_only) == ["otlp/spans"]


async def test_the_metric_exporter_works_in_the_background(context: ExporterContext):
    exporters = build_exporters("otlp", {"endpoint": "http://a:4318"}, context=context)

    background = [exporter.name for exporter in exporters if isinstance(exporter, BackgroundExporter)]
    for exporter in exporters:
        await exporter.close()

    assert background == ["otlp/metrics"]


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("graphite", {}, "There is no exporter 'graphite'; there are: .*jsonl.*otlp.*prometheus"),
        (
            "otlp",
            {"endpont": "http://a:4318"},
            "'otlp' cannot work: endpont is not a known key; did you mean 'endpoint'",
        ),
        ("otlp", {"timeout_s": 0}, "'otlp' cannot work: timeout_s is 0 and must be over 0."),
        ("langfuse", {"host": "https://a"}, "public_key is required and is not set. secret_key is required"),
        ("otlp", {"timeout_s": "soon"}, "'otlp' cannot work: timeout_s must be a number."),
        ("otlp", {"events": False, "spans": False, "metrics": False}, "enable one"),
        ("prometheus", {"max_series": 0}, "'prometheus'.*max_series"),
        ("jsonl", {"name": "a/b"}, "'jsonl'.*name"),
    ],
    ids=["unknown", "typo", "timeout", "missing", "wrong_type", "nothing_on", "series", "name"],
)
def test_what_cannot_work_is_named(kind: str, options: dict[str, Any], message: str):
    with pytest.raises(ExporterConfigError, match=message):
        check_exporter(kind, options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "OTEL_EXPORTER_OTLP_ENDPOINT"),
        ({"endpoint": "tempo:4318"}, "'otlp' cannot work"),
        ({"endpoint": "http://a:4317", "compression": "zstd"}, "zstd"),
    ],
    ids=["no_address", "no_url", "grpc_zstd"],
)
def test_an_address_that_cannot_work_is_named(context: ExporterContext, options: dict[str, Any], message: str):
    with pytest.raises(ExporterConfigError, match=message):
        build_exporters("otlp", options, context=context)


def test_secrets_are_in_no_message():
    with pytest.raises(ExporterConfigError) as caught:
        check_exporter("otlp", {"headers": {"authorization": ["s3cret-canary"]}, "timeout_s": "s3cret-canary"})

    assert "s3cret-canary" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("path", ["../out.jsonl", "a/../../out.jsonl", "link/out.jsonl"])
def test_a_relative_path_stays_in_the_data_folder(context: ExporterContext, tmp_path: Path, path: str):
    (tmp_path / "link").symlink_to("/")

    with pytest.raises(ExporterConfigError, match="leads out of the data folder"):
        build_exporters("jsonl", {"path": path}, context=context)


async def test_a_relative_path_is_below_the_data_folder(context: ExporterContext, tmp_path: Path):
    [exporter] = build_exporters("jsonl", {"path": "scores/v.jsonl"}, context=context)

    await exporter.export([verdict("v1")])
    await exporter.close()

    assert isinstance(exporter, JsonlExporter)
    assert (tmp_path / "scores" / "v.jsonl").stat().st_size > 0


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A distribution with an entry point, as an installer would leave it."""

    def installed(entry_points: str) -> None:
        site = tmp_path / "site"
        info = site / "adhere_plug_in-1.0.dist-info"
        info.mkdir(parents=True)
        (site / "adhere_plug_in.py").write_text(PLUG_IN)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: adhere-plug-in\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[adhere.exporters]\n{entry_points}\n")
        monkeypatch.syspath_prepend(site)
        monkeypatch.delitem(sys.modules, "adhere_plug_in", raising=False)

    return installed


async def test_a_plug_in_is_found_by_its_entry_point_and_loaded_when_asked_for(
    context: ExporterContext, install: Callable[[str], None]
):
    install("carrier_pigeon = adhere_plug_in:KIND")
    known = known_exporters()
    loaded_early = "adhere_plug_in" in sys.modules

    found = await names("carrier_pigeon", {"name": "coo"}, context)

    assert "carrier_pigeon" in known
    assert not loaded_early
    assert found == ["coo"]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("broken = adhere_plug_in:ABSENT", "'broken' of 'adhere_plug_in:ABSENT' cannot be loaded"),
        ("broken = adhere_absent:KIND", "'broken' of 'adhere_absent:KIND' cannot be loaded"),
        ("broken = adhere_plug_in:NOT_A_KIND", "'broken' is no ExporterKind"),
    ],
    ids=["no_attribute", "no_module", "no_kind"],
)
async def test_a_broken_plug_in_is_named_and_takes_no_other_with_it(
    context: ExporterContext, install: Callable[[str], None], entry: str, message: str
):
    install(entry)

    with pytest.raises(ExporterConfigError, match=message):
        check_exporter("broken", {})

    assert await names("prometheus", {}, context) == ["prometheus"]
