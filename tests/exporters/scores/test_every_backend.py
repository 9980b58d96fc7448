"""What holds for the exporters of all backends, each against its stand-in."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from collector.errors import PermanentError, RetryableError, UnauthenticatedError
from evaluators.verdict import Outcome, UnitKind, Verdict
from exporters.errors import PartialExportError, TargetUnknownError
from exporters.registry import build_exporters
from exporters.scores.exporter import ReadableBackend, ScoreExporter
from tests.support.backends.cases import CASES, Case
from tests.support.backends.stand_in import Scripted, StandIn
from tests.support.clock import ManualClock
from tests.support.exporter_context import exporter_context
from tests.support.verdicts import REFUND_FAILED, verdict

SECRETS = ("phoenix-key", "mlflow-token", "sk-lf-secret", "lsv2-secret", "opik-key", "dd-secret", "bt-secret")
MORE_SECRETS = ("wb-secret", "glc-secret", "webhook-secret", "path-secret")
CONTENT = ("refund was issued", "issue_refund")

every = pytest.mark.parametrize("case", list(CASES.values()), ids=list(CASES))
overwriting = pytest.mark.parametrize(
    "case", [case for case in CASES.values() if case.overwrites], ids=[k for k, c in CASES.items() if c.overwrites]
)
waiting = pytest.mark.parametrize(
    "case", [case for case in CASES.values() if case.waits], ids=[k for k, c in CASES.items() if c.waits]
)


def build(case: Case, stand_in: StandIn, folder: Path, **options: Any) -> ScoreExporter:
    clock = ManualClock()
    if hasattr(stand_in, "now_s"):
        stand_in.now_s = clock.now_ns() / 1e9
    context = exporter_context(folder, clock=clock)
    [exporter] = build_exporters(case.kind, case.options(stand_in.url, **options), context=context)
    assert isinstance(exporter, ScoreExporter)
    return exporter


def skipped(exporter: ScoreExporter) -> dict[str, float]:
    return {
        sample.labels["reason"]: sample.value
        for metric in exporter._skipped.collect()
        for sample in metric.samples
        if sample.name.endswith("_total")
    }


def other(item: Verdict, **changes: Any) -> Verdict:
    return dataclasses.replace(item, **changes)


async def failure_of(exporter: ScoreExporter, item: Verdict) -> Exception:
    """The one that concerns this verdict, whether it came alone or named in a partial failure."""
    with pytest.raises((RetryableError, PermanentError, PartialExportError)) as caught:
        await exporter.export([item])
    err = caught.value
    return err.failures[item.id] if isinstance(err, PartialExportError) else err


@every
async def test_a_score_is_taken_once_however_often_it_is_sent(case: Case, tmp_path: Path):
    async with case.stand_in() as stand_in:
        case.know(stand_in, REFUND_FAILED)
        exporter = build(case, stand_in, tmp_path)

        await exporter.export([REFUND_FAILED])
        await exporter.export([REFUND_FAILED])
        await exporter.close()

    assert len(stand_in.stored) == (1 if case.overwrites else 2)
    assert len({str(item) for item in stand_in.stored.values()}) == 1
    assert not skipped(exporter)


@every
async def test_many_scores_arrive_together(case: Case, tmp_path: Path):
    items = [
        verdict(f"{number:032x}", span_id=f"{number:016x}", response_id=f"r{number}", evaluator="task_adherence")
        for number in range(1, 30)
    ]
    async with case.stand_in() as stand_in:
        for item in items:
            case.know(stand_in, item)
        exporter = build(case, stand_in, tmp_path)

        await exporter.export(items)
        await exporter.close()

    assert len(stand_in.stored) == len(items)


@every
async def test_outcomes_without_a_form_are_skipped_and_counted(case: Case, tmp_path: Path):
    items = [
        verdict(f"{number:032x}", outcome=outcome, score=None, label=None, error_type="judge_timeout")
        for number, outcome in enumerate((Outcome.ERROR, Outcome.NOT_ASSESSABLE, Outcome.ABSTAIN), start=1)
    ]
    wanted = {item.outcome.value for item in items} - case.outcomes
    async with case.stand_in() as stand_in:
        case.know(stand_in, REFUND_FAILED)
        exporter = build(case, stand_in, tmp_path)

        await exporter.export([*items, REFUND_FAILED])
        await exporter.close()

    assert skipped(exporter) == dict.fromkeys(wanted, 1.0)
    assert len(stand_in.stored) == 1 + len(case.outcomes)
    assert "judge_timeout" in str(stand_in.stored) or not case.outcomes


@every
async def test_nothing_is_sent_where_there_is_no_form(case: Case, tmp_path: Path):
    item = verdict(trace_id="", span_id="", response_id=None)
    async with case.stand_in() as stand_in:
        exporter = build(case, stand_in, tmp_path)

        await exporter.export([item])
        await exporter.close()

    without_target = case.kind in ("azure", "webhook")
    assert len(stand_in.calls) == (1 if without_target else 0)
    assert skipped(exporter) == ({} if without_target else {"no_target": 1.0})


@every
async def test_a_conversation_has_its_score(case: Case, tmp_path: Path):
    item = other(REFUND_FAILED, unit_kind=UnitKind.CONVERSATION)
    async with case.stand_in() as stand_in:
        case.know(stand_in, item)
        exporter = build(case, stand_in, tmp_path)

        await exporter.export([item])
        await exporter.close()

    assert len(stand_in.stored) == 1
    assert "conv-1" in str(stand_in.stored) or case.kind in ("datadog", "opik")


@every
async def test_content_stays_here_where_it_is_not_to_be_sent(case: Case, tmp_path: Path):
    async with case.stand_in() as with_content, case.stand_in() as without:
        for stand_in, content in ((with_content, True), (without, False)):
            case.know(stand_in, REFUND_FAILED)
            exporter = build(case, stand_in, tmp_path, content=content)
            await exporter.export([REFUND_FAILED])
            await exporter.close()

    assert any(CONTENT[0].encode() in call.body for call in with_content.calls)
    assert not any(text.encode() in call.body for call in without.calls for text in CONTENT)


@every
@pytest.mark.parametrize("status", [429, 503])
async def test_a_backend_that_is_away_is_tried_again_when_it_says(case: Case, status: int, tmp_path: Path):
    async with case.stand_in() as stand_in:
        case.know(stand_in, REFUND_FAILED)
        exporter = build(case, stand_in, tmp_path)
        stand_in.script.append(Scripted(status, headers={"retry-after": "7"}))

        with pytest.raises(RetryableError) as caught:
            await exporter.export([REFUND_FAILED])
        await exporter.export([REFUND_FAILED])
        await exporter.close()

    assert not isinstance(caught.value, TargetUnknownError)
    assert caught.value.retry_after_s == 7.0
    assert len(stand_in.stored) == 1


@every
async def test_refused_credentials_say_nothing_about_a_verdict(case: Case, tmp_path: Path):
    async with case.stand_in() as stand_in:
        exporter = build(case, stand_in, tmp_path)
        stand_in.script.append(Scripted(401))

        with pytest.raises(UnauthenticatedError):
            await exporter.export([REFUND_FAILED])
        await exporter.close()


@every
async def test_a_refusal_is_final(case: Case, tmp_path: Path):
    async with case.stand_in() as stand_in:
        exporter = build(case, stand_in, tmp_path)
        stand_in.script.extend([Scripted(422, {"message": "No."})] * 2)

        failure = await failure_of(exporter, REFUND_FAILED)
        await exporter.close()

    assert isinstance(failure, PermanentError)
    assert not isinstance(failure, UnauthenticatedError)


@every
async def test_an_answer_that_repeats_content_and_secrets_gets_into_no_message(case: Case, tmp_path: Path):
    async with case.stand_in() as stand_in:
        exporter = build(case, stand_in, tmp_path)
        said = f"{REFUND_FAILED.reason} {' '.join(SECRETS + MORE_SECRETS)} Bearer bt-secret"
        case.know(stand_in, REFUND_FAILED)
        answer = {"message": said, "detail": [{"loc": ["a"], "msg": said}]}
        stand_in.script.extend([Scripted(422, answer, when=CONTENT[0].encode())] * 2)

        failure = await failure_of(exporter, REFUND_FAILED)
        await exporter.close()

    own = [secret for secret in SECRETS + MORE_SECRETS if secret in str(case.options("x")) and secret in str(failure)]
    assert not own
    assert not any(text in str(failure) for text in CONTENT)


@every
async def test_redirects_are_not_followed(case: Case, tmp_path: Path):
    async with case.stand_in() as stand_in, case.stand_in() as elsewhere:
        exporter = build(case, stand_in, tmp_path)
        stand_in.script.append(Scripted(307, headers={"location": elsewhere.url}))

        with pytest.raises(RetryableError, match="Redirects are not followed"):
            await exporter.export([REFUND_FAILED])
        await exporter.close()

    assert not elsewhere.calls


@every
async def test_no_answer_is_an_outage(case: Case, tmp_path: Path):
    async with case.stand_in() as stand_in:
        exporter = build(case, stand_in, tmp_path, timeout_s=0.05)
        stand_in.script.append(Scripted(200, hangs=True))

        with pytest.raises(RetryableError, match=r"did not answer within 0\.05 s"):
            await exporter.export([REFUND_FAILED])
        await exporter.close()


@every
async def test_a_server_that_is_not_there_is_an_outage(case: Case, tmp_path: Path):
    async with case.stand_in() as stand_in:
        pass
    exporter = build(case, stand_in, tmp_path)

    with pytest.raises(RetryableError, match=r"cannot be reached \(Connection refused\)"):
        await exporter.export([REFUND_FAILED])
    await exporter.close()
    await exporter.close()


@waiting
async def test_a_target_that_is_not_known_yet_is_waited_for_and_the_others_go_on(case: Case, tmp_path: Path):
    late = verdict("1" * 32, span_id="1" * 16, trace_id="1" * 32, response_id="late")
    async with case.stand_in() as stand_in:
        case.know(stand_in, REFUND_FAILED)
        exporter = build(case, stand_in, tmp_path, target_wait_s=60)

        with pytest.raises(PartialExportError) as caught:
            await exporter.export([late, REFUND_FAILED])
        before = len(stand_in.stored)
        case.know(stand_in, late)
        await exporter.export([late])
        await exporter.close()

    failure = caught.value.failures[late.id]
    assert list(caught.value.failures) == [late.id]
    assert isinstance(failure, TargetUnknownError)
    assert failure.patience_s == 60
    assert (before, len(stand_in.stored)) == (1, 2)


@every
async def test_what_was_written_can_be_read_back_where_the_api_can(case: Case, tmp_path: Path):
    async with case.stand_in() as stand_in:
        case.know(stand_in, REFUND_FAILED)
        exporter = build(case, stand_in, tmp_path)
        backend = exporter.backend
        if not isinstance(backend, ReadableBackend):
            await exporter.close()
            pytest.skip("The API gives nothing back.")

        before = await backend.find(REFUND_FAILED)
        await exporter.export([REFUND_FAILED])
        after = await backend.find(REFUND_FAILED)
        await exporter.close()

    assert before is None
    assert after


@overwriting
async def test_odd_text_is_sent_as_valid_text(case: Case, tmp_path: Path):
    item = other(
        REFUND_FAILED,
        evaluator="style: ünïcode / \u202e \x1b[31m",
        label="needs\nwork\ud800",
        reason="\x00\ud800 'quoted' \"text\" <script>" * 200,
        agent_name="=cmd|' /C calc'!A0",
        conversation_id="a/b?c#d e'f\u202e" * 30,
        details={"deep": {"er": [float("nan"), {1, 2}]}},
    )
    async with case.stand_in() as stand_in:
        case.know(stand_in, item)
        exporter = build(case, stand_in, tmp_path)

        await exporter.export([item])
        await exporter.close()

    assert len(stand_in.stored) == 1
    assert "\\x1b" not in repr(stand_in.stored)
    assert all(call.body.decode() is not None for call in stand_in.calls)
