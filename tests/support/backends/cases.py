"""The backends by name, for tests that hold for all of them: the stand-in, ready for one verdict, and the options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from evaluators.verdict import Verdict
from exporters.langsmith import run_id
from exporters.opik import opik_id
from exporters.scores.score import target_time
from tests.support.backends.azure import KEY, AzureStandIn
from tests.support.backends.braintrust import BraintrustStandIn
from tests.support.backends.datadog import DatadogStandIn
from tests.support.backends.grafana import GrafanaStandIn
from tests.support.backends.langfuse import LangfuseStandIn
from tests.support.backends.langsmith import LangsmithStandIn
from tests.support.backends.mlflow import MlflowStandIn
from tests.support.backends.opik import OpikStandIn
from tests.support.backends.phoenix import PhoenixStandIn
from tests.support.backends.stand_in import StandIn
from tests.support.backends.weave import WeaveStandIn
from tests.support.backends.webhook import WebhookStandIn


@dataclass(frozen=True, slots=True)
class Case:
    kind: str
    stand_in: Callable[[], Any]
    address: str
    """Name of the option that holds the address."""
    know: Callable[[Any, Verdict], None]
    """Make the target of a verdict known to the stand-in."""
    outcomes: frozenset[str]
    """What the backend has a form for, besides pass and fail."""
    waits: bool
    """Whether it says that it does not know a target."""
    overwrites: bool = True
    where: Callable[[str], str] = lambda url: url

    def options(self, url: str, **more: Any) -> dict[str, Any]:
        return {**self.stand_in.options, self.address: self.where(url), **more}  # type: ignore[attr-defined]


def _nothing(_: StandIn, __: Verdict) -> None:
    pass


def _phoenix(stand_in: PhoenixStandIn, verdict: Verdict) -> None:
    stand_in.known["span"].add(verdict.span_id)
    stand_in.known["trace"].add(verdict.trace_id)


def _braintrust(stand_in: BraintrustStandIn, verdict: Verdict) -> None:
    row = {"id": f"row-{verdict.span_id}", "scores": {}}
    stand_in.rows.setdefault((verdict.trace_id, verdict.span_id), row)


def _opik(stand_in: OpikStandIn, verdict: Verdict) -> None:
    began = target_time(verdict) - timedelta(seconds=90)
    trace_id = opik_id(bytes.fromhex(verdict.trace_id), timestamp_ms=int(began.timestamp() * 1000))
    stand_in.traces[str(trace_id)] = began


def _azure(url: str) -> str:
    return f"InstrumentationKey={KEY};IngestionEndpoint={url}/;LiveEndpoint=https://live.invalid/"


_ALL = frozenset({"error", "not_assessable", "abstain"})
_NONE: frozenset[str] = frozenset()

CASES: Mapping[str, Case] = {
    case.kind: case
    for case in (
        Case("phoenix", PhoenixStandIn, "endpoint", _phoenix, _NONE, waits=True),
        Case(
            "mlflow",
            MlflowStandIn,
            "tracking_uri",
            lambda stand_in, verdict: stand_in.traces.add(f"tr-{verdict.trace_id}"),
            frozenset({"error", "not_assessable"}),
            waits=True,
        ),
        Case("langfuse", LangfuseStandIn, "host", _nothing, _NONE, waits=False),
        Case(
            "langsmith",
            LangsmithStandIn,
            "endpoint",
            lambda stand_in, verdict: stand_in.runs.add(str(run_id(verdict.span_id))),
            frozenset({"error"}),
            waits=True,
        ),
        Case("opik", OpikStandIn, "url", _opik, _NONE, waits=True),
        Case("datadog", DatadogStandIn, "endpoint", _nothing, _NONE, waits=False),
        Case("braintrust", BraintrustStandIn, "api_url", _braintrust, _NONE, waits=True),
        Case("weave", WeaveStandIn, "trace_url", _nothing, _ALL, waits=False),
        Case("azure", AzureStandIn, "connection_string", _nothing, _ALL, waits=False, overwrites=False, where=_azure),
        Case(
            "grafana",
            GrafanaStandIn,
            "endpoint",
            lambda stand_in, verdict: stand_in.generations.add(verdict.response_id),
            _NONE,
            waits=True,
        ),
        Case(
            "webhook",
            WebhookStandIn,
            "url",
            _nothing,
            _ALL,
            waits=False,
            where=lambda url: f"{url}/hooks/adhere?token=path-secret",
        ),
    )
}
