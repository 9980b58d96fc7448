"""Verdicts as JSON bytes."""

from __future__ import annotations

import dataclasses
from typing import Any

from evaluators.store.encoding import dump, load
from evaluators.verdict import Evidence, JudgeInfo, Outcome, UnitKind, Verdict


def encode_verdict(verdict: Verdict) -> bytes:
    record = {field.name: getattr(verdict, field.name) for field in dataclasses.fields(verdict)}
    record["evidence"] = [dataclasses.asdict(piece) for piece in verdict.evidence]
    record["judge"] = dataclasses.asdict(verdict.judge)
    return dump(record)


def decode_verdict(body: bytes) -> Verdict:
    record: Any = load(body)
    return Verdict(
        **{
            **record,
            "unit_kind": UnitKind(record["unit_kind"]),
            "outcome": Outcome(record["outcome"]),
            "evidence": tuple(Evidence(**piece) for piece in record["evidence"]),
            "judge": JudgeInfo(**record["judge"]),
        }
    )
