from __future__ import annotations

import io
import json
import logging

import pytest
import structlog

from adhere.config.model import LogsConfig
from adhere.logs import RepeatLimit, configure_logs
from tests.support.clock import ManualClock


@pytest.fixture(autouse=True)
def _untouched_logging():
    """Each process sets its log up once; tests must leave no trace."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    root.handlers.clear()
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def limited(clock: ManualClock, *events: tuple[str, dict[str, object]]) -> list[dict[str, object]]:
    limit = RepeatLimit(clock=clock, period_s=10)
    return [event for event in (passed(limit, *one) for one in events) if event is not None]


def passed(limit: RepeatLimit, method: str, event: dict[str, object]) -> dict[str, object] | None:
    try:
        return dict(limit(None, method, event))
    except structlog.DropEvent:
        return None


def test_a_repeated_warning_is_held_back_and_counted() -> None:
    clock = ManualClock()
    limit = RepeatLimit(clock=clock, period_s=10)
    first = [passed(limit, "warning", {"event": "x"}) for _ in range(4)]
    clock._monotonic_s += 10

    later = passed(limit, "warning", {"event": "x"})
    last = passed(limit, "warning", {"event": "x"})

    assert first == [{"event": "x"}, None, None, None]
    assert later == {"event": "x", "repeats_held_back": 3}
    assert last is None


DIFFERENT = {
    "another event": (("warning", {"event": "x"}), ("warning", {"event": "y"})),
    "another level": (("warning", {"event": "x"}), ("error", {"event": "x"})),
    "another destination": (
        ("warning", {"event": "x", "destination": "a"}),
        ("warning", {"event": "x", "destination": "b"}),
    ),
    "another exporter": (("error", {"event": "x", "exporter": "a"}), ("error", {"event": "x", "exporter": "b"})),
    "information": (("info", {"event": "x"}), ("info", {"event": "x"})),
    "details": (("debug", {"event": "x"}), ("debug", {"event": "x"})),
}


@pytest.mark.parametrize("events", DIFFERENT.values(), ids=DIFFERENT)
def test_only_the_same_warning_of_the_same_place_is_held_back(events) -> None:
    assert len(limited(ManualClock(), *events)) == 2


def test_many_places_take_bounded_memory() -> None:
    limit = RepeatLimit(clock=ManualClock(), period_s=10)

    for number in range(5000):
        passed(limit, "warning", {"event": f"event {number}"})

    assert len(limit._last) <= 1024


def test_json_lines_carry_role_level_and_time() -> None:
    out = io.StringIO()
    configure_logs(LogsConfig(format="json"), role="collector", stream=out, clock=ManualClock())

    structlog.get_logger().info("journal opened", segments=3)

    line = json.loads(out.getvalue())
    assert (line["event"], line["segments"], line["role"], line["level"]) == (
        "journal opened",
        3,
        "collector",
        "info",
    )
    assert line["timestamp"].endswith("Z")


class _Writes(io.StringIO):
    """What each write to a stream without a buffer puts there."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        self.writes.append(text)
        return len(text)


def test_a_line_is_one_write_for_two_processes_share_the_stream() -> None:
    out = _Writes()
    configure_logs(LogsConfig(format="json"), role="collector", stream=out, clock=ManualClock())

    structlog.get_logger("test").info("receiver started", port=1)

    (line,) = out.writes
    assert line.endswith("}\n")


def test_what_libraries_log_is_in_the_same_form_and_held_back_where_it_repeats() -> None:
    logging.getLogger().handlers.clear()  # The test runner's; a process of ours has none.
    out = io.StringIO()
    configure_logs(LogsConfig(format="json"), role="collector", stream=out, clock=ManualClock())
    library = logging.getLogger("a.library")

    for _ in range(3):
        library.warning("Invalid request from %s", "client")
    library.error("Broken")
    library.info("nobody needs this")

    told = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(line["level"], line["event"], line["library"], line["role"]) for line in told] == [
        ("warning", "Invalid request from client", "a.library", "collector"),
        ("error", "Broken", "a.library", "collector"),
    ]


def test_an_exception_in_json_has_its_traceback_without_values() -> None:
    out = io.StringIO()
    configure_logs(LogsConfig(format="json"), role="collector", stream=out, clock=ManualClock())
    secret = "canary-91c"  # a local variable of the frame that is logged

    try:
        int(secret[:2])
    except ValueError:
        structlog.get_logger().exception("relay failed")

    line = json.loads(out.getvalue())
    assert "ValueError: invalid literal for int()" in line["exception"]
    assert "canary-91c" not in line["exception"].replace('secret = "canary-91c"', "")


def test_text_is_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    out = io.StringIO()
    configure_logs(LogsConfig(format="text"), role="evaluator", stream=out, clock=ManualClock())

    structlog.get_logger().warning("no judge configured", way_out="set judge.model")

    assert "no judge configured" in out.getvalue()
    assert "role=evaluator" in out.getvalue()
    assert "\x1b[" not in out.getvalue(), "no colours where no terminal is"


@pytest.mark.parametrize(("level", "shown"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)])
def test_the_level_is_kept(level: str, shown: int) -> None:
    out = io.StringIO()
    configure_logs(LogsConfig(level=level, format="json"), role="x", stream=out, clock=ManualClock())  # type: ignore[arg-type]  # a row of the table
    log = structlog.get_logger()

    log.debug("a")
    log.info("b")
    log.warning("c")
    log.error("d")

    assert len(out.getvalue().splitlines()) == shown
