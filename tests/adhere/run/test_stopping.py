from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from adhere.run.stopping import Steps
from tests.support.clock import ManualClock


class Recorder:
    """Steps that note their names and the time they were given, and take some."""

    def __init__(self, clock: ManualClock) -> None:
        self.seen: list[tuple[str, float]] = []
        self._clock = clock

    def step(self, name: str, *, takes_s: float = 0.0, error: Exception | None = None):
        async def stop(left_s: float) -> None:
            self.seen.append((name, left_s))
            await self._clock.advance(takes_s)
            if error is not None:
                raise error

        return stop


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def recorder(clock: ManualClock) -> Recorder:
    return Recorder(clock)


async def test_what_was_added_last_is_stopped_first(clock: ManualClock, recorder: Recorder) -> None:
    steps = Steps(clock)
    for name in ("journal", "relay", "receivers"):
        steps.add(name, recorder.step(name))

    await steps.run(10)

    assert [name for name, _ in recorder.seen] == ["receivers", "relay", "journal"]


async def test_each_step_gets_what_is_left_and_a_moment_at_least(clock: ManualClock, recorder: Recorder) -> None:
    steps = Steps(clock)
    for name, takes_s in (("last", 0.0), ("third", 5.0), ("second", 8.0), ("first", 3.0)):
        steps.add(name, recorder.step(name, takes_s=takes_s))

    await steps.run(10)

    assert recorder.seen == [("first", 10.0), ("second", 7.0), ("third", 0.5), ("last", 0.5)]


async def test_a_step_that_fails_does_not_spare_the_rest(clock: ManualClock, recorder: Recorder) -> None:
    steps = Steps(clock)
    steps.add("journal", recorder.step("journal"))
    steps.add("relay", recorder.step("relay", error=ValueError("broken")))

    with capture_logs() as logs:
        await steps.run(10)

    assert [name for name, _ in recorder.seen] == ["relay", "journal"]
    assert [(entry["event"], entry["step"]) for entry in logs] == [("stopping failed", "relay")]


async def test_a_second_run_stops_nothing_twice(clock: ManualClock, recorder: Recorder) -> None:
    steps = Steps(clock)
    steps.add("journal", recorder.step("journal"))

    await steps.run(10)
    await steps.run(10)

    assert len(recorder.seen) == 1
