"""Scores as feedback on the rows of a Braintrust project's logs.

The row of a span is looked up by its span id. A score is merged into the row under its name, so that a resend, and a
later revision, overwrite. The explanation is a comment: those add up, and one sent again after a crash stands there
twice. https://www.braintrust.dev/docs/reference/api
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from collector.errors import PermanentError, RetryableError
from evaluators.verdict import Verdict
from exporters.errors import PartialExportError, TargetUnknownError
from exporters.http_api import HttpApi
from exporters.scores.score import comment_of, has_span, metadata_of, score_name, score_of, why_no_score


class BraintrustBackend:
    def __init__(
        self, api: HttpApi, *, project_id: str, target_wait_s: float, content: bool = True, comments: bool = True
    ) -> None:
        """`project_id` is a UUID; it becomes a part of paths and queries."""
        self._api = api
        self._project_id = project_id
        self._target_wait_s = target_wait_s
        self._content = content
        self._comments = comments

    def why_not(self, verdict: Verdict) -> str | None:
        return why_no_score(verdict) or (None if has_span(verdict) else "no_target")

    async def send(self, verdicts: Sequence[Verdict]) -> None:
        rows = await asyncio.gather(*(self._row(verdict) for verdict in verdicts))
        failures: dict[str, RetryableError | PermanentError] = {}
        feedback: list[dict[str, object]] = []
        for verdict, row in zip(verdicts, rows, strict=True):
            if row is None:
                failures[verdict.id] = TargetUnknownError(
                    f"Braintrust has no row for the span {verdict.span_id} yet.", patience_s=self._target_wait_s
                )
            else:
                feedback.append(self._feedback(verdict, row_id=str(row["id"])))
        if feedback:
            await self._api.call(
                "POST", f"/v1/project_logs/{self._project_id}/feedback", json_body={"feedback": feedback}
            )
        if failures:
            raise PartialExportError(f"{len(failures)} targets are not known to Braintrust.", failures=failures)

    async def find(self, verdict: Verdict) -> str | None:
        row = await self._row(verdict)
        scores = (row or {}).get("scores") or {}
        return (
            f"score {score_name(verdict)} on the row {(row or {}).get('id')}" if score_name(verdict) in scores else None
        )

    async def close(self) -> None:
        await self._api.close()

    async def _row(self, verdict: Verdict) -> Mapping[str, Any] | None:
        """Both ids are hexadecimal and the project's is a UUID: nothing else gets into the query."""
        query = (
            f"select: id, scores | from: project_logs('{self._project_id}') "
            f"| filter: span_id = '{verdict.span_id}' and root_span_id = '{verdict.trace_id}' | limit: 1"
        )
        answer = await self._api.call("POST", "/btql", json_body={"query": query, "fmt": "json"})
        rows = answer.json().get("data") or ()
        return next((row for row in rows if isinstance(row, dict) and row.get("id")), None)

    def _feedback(self, verdict: Verdict, *, row_id: str) -> dict[str, object]:
        found: dict[str, object] = {
            "id": row_id,
            "scores": {score_name(verdict): score_of(verdict)},
            "metadata": metadata_of(verdict, content=self._content),
            "source": "external",
        }
        comment = comment_of(verdict, content=self._content and self._comments)
        if comment:
            found["comment"] = f"{score_name(verdict)}: {comment}"
        return found
