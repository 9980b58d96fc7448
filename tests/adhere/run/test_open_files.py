from __future__ import annotations

import subprocess
import sys

import pytest
import structlog

from adhere.run.open_files import connections_within

_RAISED = """
import resource, sys
from adhere.run.open_files import raise_open_files
resource.setrlimit(resource.RLIMIT_NOFILE, (256, int(sys.argv[1])))
print(raise_open_files(), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def test_a_process_asks_for_as_many_files_as_it_may_have() -> None:
    done = subprocess.run([sys.executable, "-c", _RAISED, "700"], capture_output=True, text=True, check=True)

    assert done.stdout == "700 700 700\n"


@pytest.mark.parametrize(
    ("open_files", "taken"), [(65_536, 1024), (3328, 1024), (3325, 1023), (1024, 256), (256, 16), (0, 16)]
)
def test_connections_leave_files_for_the_rest(open_files: int, taken: int) -> None:
    with structlog.testing.capture_logs() as logs:
        assert connections_within(open_files, wanted=1024) == taken

    assert [entry["way_out"] for entry in logs] == [
        "allow this process 3328 open files (ulimit -n, LimitNOFILE)" for _ in range(taken < 1024)
    ]
