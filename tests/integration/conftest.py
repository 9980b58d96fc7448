from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.real_server import RunningServer, running
from tests.integration.servers import MLFLOW, PHOENIX

HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "integration: runs real servers of other projects; needs ADHERE_INTEGRATION=1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    off = pytest.mark.skip(reason="Real servers are started with ADHERE_INTEGRATION=1 only.")
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.integration)
            if os.environ.get("ADHERE_INTEGRATION") != "1":
                item.add_marker(off)


@pytest.fixture(scope="session")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running(PHOENIX, tmp_path_factory.mktemp("phoenix")) as server:
        yield server


@pytest.fixture(scope="session")
def mlflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running(MLFLOW, tmp_path_factory.mktemp("mlflow")) as server:
        yield server
