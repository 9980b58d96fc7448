"""LangSmith's feedback API: ids are UUIDs, one that is there already is a conflict."""

from __future__ import annotations

from typing import Any, ClassVar, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.backends.stand_in import RefusedError, StandIn, Strict


class _Source(Strict):
    type: Literal["api", "model"]
    metadata: dict[str, Any] = Field(default_factory=dict)


class _Create(Strict):
    id: UUID
    run_id: UUID
    trace_id: UUID | None = None
    key: str = Field(min_length=1, max_length=180)
    score: float | bool | None = None
    value: float | bool | str | dict[str, Any] | None = None
    comment: str | None = None
    error: bool | None = None
    session_id: UUID | None = None
    created_at: AwareDatetime
    modified_at: AwareDatetime
    feedback_source: _Source


class _Update(Strict):
    score: float | bool | None = None
    value: float | bool | str | dict[str, Any] | None = None
    comment: str | None = None


class LangsmithStandIn(StandIn):
    credentials: ClassVar = {"x-api-key": "lsv2-secret"}
    options: ClassVar = {"api_key": "lsv2-secret"}

    def __init__(self) -> None:
        super().__init__()
        self.runs: set[str] = set()

    def routes(self) -> list[Route]:
        return [
            Route("/feedback", self._create, methods=["POST"]),
            Route("/feedback/{id:uuid}", self._one, methods=["GET", "PATCH", "DELETE"]),
        ]

    async def _create(self, request: Request) -> Response:
        body = _Create.model_validate_json(await request.body())
        if str(body.run_id) not in self.runs:
            raise RefusedError(404, {"detail": "Run not found"})
        if str(body.id) in self.stored:
            raise RefusedError(409, {"detail": "Feedback already exists"})
        self.stored[str(body.id)] = body.model_dump(exclude_none=True, mode="json")
        return JSONResponse(self.stored[str(body.id)])

    async def _one(self, request: Request) -> Response:
        key = str(request.path_params["id"])
        if key not in self.stored:
            raise RefusedError(404, {"detail": "Feedback not found"})
        if request.method == "PATCH":
            self.stored[key] |= _Update.model_validate_json(await request.body()).model_dump(exclude_none=True)
        found = self.stored[key]
        if request.method == "DELETE":
            del self.stored[key]
        return JSONResponse(found)
