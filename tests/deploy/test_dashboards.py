"""The committed dashboards are what the code gives, and hold together."""

from __future__ import annotations

import dataclasses
import re

import pytest

from deploy.dashboards.files import FOLDER, files
from exporters.otlp.span import evaluation_span
from tests.deploy.documents import dashboards
from tests.support.attributes import plain
from tests.support.verdicts import REFUND_FAILED


def test_the_committed_files_are_what_the_code_gives() -> None:
    committed = {path.name: path.read_text() for path in FOLDER.iterdir()}

    assert committed == files(), "run `uv run poe dashboards`"


@pytest.mark.parametrize("name", dashboards())
def test_panels_do_not_overlap_and_say_what_they_show(name: str) -> None:
    panels = dashboards()[name]["panels"]
    taken: set[tuple[int, int]] = set()

    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not taken & cells, panel["title"]
        assert max(x for x, _ in cells) < 24
        assert panel["type"] == "row" or panel["description"].endswith(".")
        taken |= cells

    assert len({panel["id"] for panel in panels}) == len(panels)


def test_searches_for_traces_name_attributes_that_evaluation_spans_have() -> None:
    failed = dataclasses.replace(REFUND_FAILED, details={"injection_suspected": True})
    has = set(plain(evaluation_span(failed).attributes))
    searches = [
        target["query"]
        for one in dashboards().values()
        for panel in one["panels"]
        for target in panel.get("targets", [])
        if target.get("queryType") == "traceql"
    ]

    named = {name for search in searches for name in re.findall(r"\bspan\.([\w.]+\w)", search)}

    assert len(searches) == 2
    assert len(named) > 8
    assert named - has == set()
