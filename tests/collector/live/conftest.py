"""A live state on a file of its own, closed at the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.live_state import LiveHarness


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveHarness]:
    harness = LiveHarness(tmp_path)
    yield harness
    harness.close()
