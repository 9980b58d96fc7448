from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from evaluators.verdict import UnitKind
from exporters.errors import PartialExportError
from exporters.registry import build_exporters
from tests.support.backends.phoenix import PhoenixStandIn
from tests.support.exporter_context import exporter_context
from tests.support.verdicts import REFUND_FAILED, SPAN_ID, TRACE_ID, verdict

ON_CONVERSATION = dataclasses.replace(REFUND_FAILED, unit_kind=UnitKind.CONVERSATION)


async def export(stand_in: PhoenixStandIn, folder: Path, *items: object) -> None:
    options = {**PhoenixStandIn.options, "endpoint": stand_in.url}
    [exporter] = build_exporters("phoenix", options, context=exporter_context(folder))
    try:
        await exporter.export(items)  # type: ignore[arg-type]
    finally:
        await exporter.close()


async def test_an_annotation_says_it_all(tmp_path: Path):
    async with PhoenixStandIn() as phoenix:
        phoenix.known["span"].add(SPAN_ID)

        await export(phoenix, tmp_path, REFUND_FAILED)

    [found] = phoenix.stored.values()
    assert found["span_id"] == SPAN_ID
    assert found["name"] == "task_adherence"
    assert found["annotator_kind"] == "LLM"
    assert found["identifier"] == REFUND_FAILED.id
    assert found["result"] == {"label": "fail", "score": 0.25, "explanation": REFUND_FAILED.reason}
    assert found["metadata"]["adhere.agent_version"] == "2.4"


@pytest.mark.parametrize(("known", "level"), [("conv-1", "session"), ("another", "trace")])
async def test_a_conversation_is_a_session_where_phoenix_has_one(tmp_path: Path, known: str, level: str):
    async with PhoenixStandIn() as phoenix:
        phoenix.known["trace"].add(TRACE_ID)
        phoenix.known["session"].add(known)

        await export(phoenix, tmp_path, ON_CONVERSATION)

    [key] = phoenix.stored
    assert key.startswith(f"{level}/")


async def test_sessions_of_which_one_is_known_are_told_apart(tmp_path: Path):
    items = [dataclasses.replace(ON_CONVERSATION, id=f"v{n}", conversation_id=f"c{n}") for n in range(1, 20)]
    async with PhoenixStandIn() as phoenix:
        phoenix.known["session"].add("c1")
        phoenix.known["trace"].add(TRACE_ID)

        await export(phoenix, tmp_path, *items)

    assert sum(key.startswith("session/c1/") for key in phoenix.stored) == 1
    assert sum(key.startswith("trace/") for key in phoenix.stored) == len(items) - 1


async def test_missing_spans_are_named_in_few_calls(tmp_path: Path):
    items = [verdict(f"v{n}", span_id=f"{n:016x}") for n in range(1, 60)]
    async with PhoenixStandIn() as phoenix:
        phoenix.known["span"] |= {item.span_id for item in items[::2]}

        with pytest.raises(PartialExportError) as caught:
            await export(phoenix, tmp_path, *items)

    assert set(caught.value.failures) == {item.id for item in items[1::2]}
    assert len(phoenix.stored) == len(items[::2])
    assert len(phoenix.calls) < 12


async def test_a_name_that_phoenix_keeps_to_itself_is_another_one(tmp_path: Path):
    async with PhoenixStandIn() as phoenix:
        phoenix.known["span"].add(SPAN_ID)

        await export(phoenix, tmp_path, dataclasses.replace(REFUND_FAILED, evaluator="note"))

    assert [item["name"] for item in phoenix.stored.values()] == ["adhere_note"]
