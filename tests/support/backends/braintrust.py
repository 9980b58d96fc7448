"""Braintrust: rows of a project's logs by query, feedback merged into rows by id and score name."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.backends.stand_in import RefusedError, StandIn, Strict

PROJECT_ID = "3fa85f64-5717-4562-b3fc-2c963f66afa6"
_QUERY = re.compile(
    r"select: id, scores \| from: project_logs\('([0-9a-f-]{36})'\) "
    r"\| filter: span_id = '([0-9a-f]{16})' and root_span_id = '([0-9a-f]{32})' \| limit: 1"
)


class _Feedback(Strict):
    id: str
    scores: dict[str, Annotated[float, Field(ge=0, le=1)]] | None = None
    comment: str | None = None
    metadata: dict[str, Any] | None = None
    source: Literal["app", "api", "external"] | None = None
    tags: list[str] | None = None


class _Body(Strict):
    feedback: list[_Feedback] = Field(min_length=1)


class _Query(Strict):
    query: str
    fmt: Literal["json", "parquet"]


class BraintrustStandIn(StandIn):
    credentials: ClassVar = {"authorization": "Bearer bt-secret"}
    options: ClassVar = {"api_key": "bt-secret", "project_id": PROJECT_ID}

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[tuple[str, str], dict[str, Any]] = {}
        """By trace id and span id."""

    def routes(self) -> list[Route]:
        return [
            Route("/btql", self._query, methods=["POST"]),
            Route(f"/v1/project_logs/{PROJECT_ID}/feedback", self._take, methods=["POST"]),
        ]

    async def _query(self, request: Request) -> Response:
        found = _QUERY.fullmatch(_Query.model_validate_json(await request.body()).query)
        if found is None or found[1] != PROJECT_ID:
            raise RefusedError(400, {"Message": "Invalid query"})
        row = self.rows.get((found[3], found[2]))
        return JSONResponse({"data": [row] if row is not None else []})

    async def _take(self, request: Request) -> Response:
        for feedback in _Body.model_validate_json(await request.body()).feedback:
            row = next((row for row in self.rows.values() if row["id"] == feedback.id), None)
            if row is None:
                raise RefusedError(400, {"Message": "Row not found"})
            row["scores"] |= feedback.scores or {}
            for name in feedback.scores or {}:
                self.stored[f"{feedback.id}/{name}"] = feedback.model_dump(exclude_none=True)
        return JSONResponse({"status": "success"})
