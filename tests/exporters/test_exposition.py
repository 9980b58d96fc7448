from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from exporters.exposition import ExpositionFormat, merge, of_process, registry_source, wanted_format

TEXT, OPENMETRICS = ExpositionFormat.TEXT, ExpositionFormat.OPENMETRICS
PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;"
    "q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"
)


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", TEXT),
        ("*/*", TEXT),
        ("text/html,application/xhtml+xml,*/*;q=0.8", TEXT),
        ("application/openmetrics-text", OPENMETRICS),
        (PROMETHEUS_3, OPENMETRICS),
        ("application/openmetrics-text;q=0.2,text/plain;q=0.9", TEXT),
        ("Application/OpenMetrics-Text; version=1.0.0, text/plain;q=0.5", OPENMETRICS),
        ("application/openmetrics-text;q=0", TEXT),
        ("application/openmetrics-text;q=high", TEXT),
    ],
    ids=["none", "any", "browser", "openmetrics", "prometheus", "prefers_text", "case", "refused", "broken"],
)
def test_the_format_follows_the_accept_header(accept: str, expected: ExpositionFormat):
    assert wanted_format(accept) is expected


def registries() -> tuple[CollectorRegistry, CollectorRegistry]:
    first, second = CollectorRegistry(), CollectorRegistry()
    for number, registry in enumerate((first, second)):
        Counter("adhere_seen", "Seen.", ["kind"], registry=registry).labels('odd} "x" \\').inc(number + 1)
        Gauge("adhere_open", "Open.", registry=registry).set(number)
        taken = Histogram("adhere_taken_seconds", "Taken.", ["process_kind"], registry=registry)
        taken.labels(f"p{number}").observe(0.3, exemplar={"trace_id": "abc"})
    Gauge("adhere_only_here", "Once.", registry=second).set(7)
    return first, second


@pytest.mark.parametrize(
    ("wanted", "parse"), [(TEXT, parse_text), (OPENMETRICS, parse_openmetrics)], ids=["text", "openmetrics"]
)
async def test_two_processes_share_a_page_that_parses(wanted, parse):
    first, second = registries()
    sources = [of_process(registry_source(first), "collector"), of_process(registry_source(second), "evaluator")]

    page = merge([await source(wanted) for source in sources], wanted=wanted)

    families = {family.name: family for family in parse(page)}
    seen = {
        found.labels["process"]: found.value for found in families["adhere_seen"].samples if found.name.endswith("l")
    }
    assert seen == {"collector": 1, "evaluator": 2}
    assert {found.labels["kind"] for found in families["adhere_seen"].samples} == {'odd} "x" \\'}
    assert {found.labels["process"]: found.value for found in families["adhere_open"].samples} == {
        "collector": 0,
        "evaluator": 1,
    }
    assert families["adhere_only_here"].samples[0].value == 7
    for name in ("adhere_seen", "adhere_open", "adhere_taken_seconds"):
        assert page.count(f"# HELP {name} ") + page.count(f"# HELP {name}_total ") == 1


async def test_exemplars_stay_whole():
    first, second = registries()

    page = merge(
        [await of_process(registry_source(item), "p")(OPENMETRICS) for item in (first, second)], wanted=OPENMETRICS
    )

    [family] = [found for found in parse_openmetrics(page) if found.name == "adhere_taken_seconds"]
    assert [found.exemplar.labels for found in family.samples if found.exemplar] == [{"trace_id": "abc"}] * 2


async def test_equal_samples_are_shown_once_from_the_first():
    first, second = registries()

    page = merge([await registry_source(item)(OPENMETRICS) for item in (first, second)], wanted=OPENMETRICS)

    families = {family.name: family for family in parse_openmetrics(page)}
    assert [found.value for found in families["adhere_open"].samples] == [0]
    assert {found.labels["process_kind"] for found in families["adhere_taken_seconds"].samples} == {"p0", "p1"}


async def test_processes_that_disagree_on_a_type_do_not_mix():
    first, second = CollectorRegistry(), CollectorRegistry()
    Gauge("adhere_open", "Open.", registry=first).set(1)
    Histogram("adhere_open", "Open.", registry=second).observe(2)
    Gauge("adhere_other", "Other.", registry=second).set(3)

    page = merge([await registry_source(item)(OPENMETRICS) for item in (first, second)], wanted=OPENMETRICS)

    families = {family.name: family for family in parse_openmetrics(page)}
    assert [found.value for found in families["adhere_open"].samples] == [1]
    assert [found.value for found in families["adhere_other"].samples] == [3]


def test_nothing_is_a_page_as_well():
    assert merge([], wanted=TEXT) == ""
    assert merge([], wanted=OPENMETRICS) == "# EOF\n"
