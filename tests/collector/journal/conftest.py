from __future__ import annotations

import pytest

from tests.collector.journal.scratch import scratch_directory


@pytest.fixture
def scratch():
    with scratch_directory() as directory:
        yield directory
