"""The committed dashboards are what the code gives, and hold together."""

from __future__ import annotations

import pytest

from deploy.dashboards.files import FOLDER, files
from tests.deploy.documents import dashboards


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
