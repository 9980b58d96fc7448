from __future__ import annotations

import pytest

from tests.support.command_line import CommandLine


@pytest.fixture
def adhere(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(monkeypatch, capfd)
