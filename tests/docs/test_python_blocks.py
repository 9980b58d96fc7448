"""Python examples in the documents run by themselves; those that are modules of a plug-in are in `test_running`."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.documents import PLUG_IN, ROOT, Block, params


@pytest.mark.parametrize("block", [one for one in params("python") if not one.values[0].text.startswith(PLUG_IN)])
def test_an_example_runs_and_says_something(block: Block) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        [sys.executable, "-c", block.text], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
