"""`adhere exporters test` for every kind of backend, past the command line."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from adhere.config import load_config
from adhere.run.exporter_trial import Target, try_exporter
from exporters.scores.trial import trial_verdict
from tests.support.backends.cases import CASES, Case
from tests.support.running_adhere import write_config
from tests.support.verdicts import SPAN_ID, TRACE_ID

GIVES_NOTHING_BACK = {"datadog", "azure", "grafana", "webhook"}


@pytest.mark.parametrize("case", list(CASES.values()), ids=list(CASES))
async def test_each_backend_takes_the_test_score_and_gives_it_back_where_it_can(case: Case, tmp_path: Path) -> None:
    now_ns = time.time_ns()
    async with case.stand_in() as stand_in:
        if hasattr(stand_in, "now_s"):
            stand_in.now_s = now_ns / 1e9
        case.know(stand_in, trial_verdict(trace_id=TRACE_ID, span_id=SPAN_ID, now_ns=now_ns))
        config = load_config(write_config(tmp_path, exporters=[{case.kind: case.options(stand_in.url)}]), environ={})

        [said] = await try_exporter(config, case.kind, target=Target(TRACE_ID, SPAN_ID, is_made_up=False), wait_s=0.0)

        assert said.startswith(f"{case.kind} took the test score adhere_test")
        assert ("and gave it back" in said) == (case.kind not in GIVES_NOTHING_BACK)
        assert stand_in.stored
