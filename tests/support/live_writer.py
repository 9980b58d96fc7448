"""A process that brings the crash tests' requests into the live state of a folder, a line after each commit."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.collector.live.test_crash import bodies
from tests.support.live_state import LiveHarness


def main(folder: Path) -> None:
    live = LiveHarness(folder)
    for body in bodies():
        live.receive(body)
    for record in live.journal.records:
        live.tracker.ingest([record])
        sys.stdout.write("committed\n")
        sys.stdout.flush()
        live.tracker.caught_up()
        live.tracker.due()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
