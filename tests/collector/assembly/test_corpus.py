"""Real captures against their known transcripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from collector.assembly.reconstruct import reconstruct
from collector.assembly.render import to_json, to_text
from collector.telemetry.jsonl import read_jsonl
from tests.support.corpus import params, scorer

REPLACED_ERROR = {"results"}
"""The SDK put a sentence of its own in the place of the tool's error before anything was recorded."""
UNKNOWABLE = {
    # The event with a streamed answer carries neither trace nor span id; the last answer is a named gap.
    "openllmetry_openai_events/streaming_chat": {"output"},
    "openai_agents_genai/parallel_tools": REPLACED_ERROR,
    "openai_agents_genai_chat/parallel_tools": REPLACED_ERROR,
    "openai_agents_openinference/parallel_tools": REPLACED_ERROR,
    "openai_agents_openinference_session/parallel_tools": REPLACED_ERROR,
    "openai_agents_traceloop/parallel_tools": REPLACED_ERROR,
}


@pytest.mark.parametrize("capture", params("*"))
def test_conversations_are_rebuilt_exactly(capture: Path) -> None:
    score = scorer()
    truth = json.loads((capture / "expected.json").read_text())
    joined = truth.get("joined_by") in ("id", "history", "response id", "trace")

    conversations = reconstruct(read_jsonl(capture / "otlp.jsonl"))

    answer = [to_json(conversation) for conversation in conversations]
    found = score.check(truth["transcript"], answer, score.haystack(capture / "otlp.jsonl"), joined)
    wrong = {name for name, holds in found.items() if holds is False}
    assert wrong == UNKNOWABLE.get(f"{capture.parent.name}/{capture.name}", set())
    assert all(to_text(conversation) for conversation in conversations)
    if "output" in wrong:
        assert any(turn["gaps"] for conversation in answer for turn in conversation["turns"])
