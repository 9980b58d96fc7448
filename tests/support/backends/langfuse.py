"""Langfuse's scores API: lists of scores (`takes_lists`) or, as older servers, one score a call.

A score is overwritten by one with the same id and the same timestamp; with another timestamp it is a second row.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError, model_validator
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.backends.stand_in import RefusedError, StandIn, Strict


class _Score(Strict):
    id: str | None = None
    name: str
    value: float | str
    dataType: Literal["NUMERIC", "BOOLEAN", "CATEGORICAL", "TEXT", "CORRECTION"] | None = None  # noqa: N815 - the API's name
    traceId: str | None = Field(default=None, pattern=r"^[0-9a-f]{32}$")  # noqa: N815 - the API's name
    observationId: str | None = Field(default=None, pattern=r"^[0-9a-f]{16}$")  # noqa: N815 - the API's name
    sessionId: str | None = Field(default=None, min_length=1, max_length=200)  # noqa: N815 - the API's name
    comment: str | None = None
    metadata: dict[str, Any] | None = None
    environment: str | None = Field(default=None, pattern=r"^[a-z0-9_-]+$", max_length=40)
    timestamp: AwareDatetime | None = None

    @model_validator(mode="after")
    def _has_one_target(self) -> Any:
        if (self.traceId is None) == (self.sessionId is None):
            raise ValueError("exactly one of traceId and sessionId")
        if self.observationId is not None and self.traceId is None:
            raise ValueError("observationId needs traceId")
        if self.dataType == "NUMERIC" and not isinstance(self.value, float):
            raise ValueError("NUMERIC needs a number")
        return self


class LangfuseStandIn(StandIn):
    # base64 of "pk-lf-1:sk-lf-secret"
    credentials: ClassVar = {"authorization": "Basic cGstbGYtMTpzay1sZi1zZWNyZXQ="}
    options: ClassVar = {"public_key": "pk-lf-1", "secret_key": "sk-lf-secret"}

    def __init__(self) -> None:
        super().__init__()
        self.takes_lists = True

    def routes(self) -> list[Route]:
        return [
            Route("/api/public/scores", self._create, methods=["POST"]),
            Route("/api/public/scores/{score_id}", self._delete, methods=["DELETE"]),
            Route("/api/public/v3/scores", self._read),
            Route("/api/public/v2/scores", self._read),
        ]

    async def _create(self, request: Request) -> Response:
        body = await request.body()
        adapter: TypeAdapter[Any] = TypeAdapter(list[_Score] if self.takes_lists else _Score)
        try:
            found = adapter.validate_json(body)
        except ValidationError as err:
            raise RefusedError(400, {"message": "Invalid request data", "error": [str(err)]}) from err
        for score in found if self.takes_lists else [found]:
            key = f"{score.id}@{score.timestamp}"
            self.stored[key] = score.model_dump(exclude_none=True, mode="json")
        if self.takes_lists:
            return JSONResponse({"message": "Accepted"}, status_code=202)
        return JSONResponse({"id": found.id})

    async def _delete(self, request: Request) -> Response:
        gone = [key for key in self.stored if key.startswith(request.path_params["score_id"] + "@")]
        if not gone:
            raise RefusedError(404, {"message": "Score not found"})
        for key in gone:
            del self.stored[key]
        return JSONResponse({"message": "accepted"})

    async def _read(self, request: Request) -> Response:
        is_v3 = "v3" in request.url.path
        if is_v3 != self.takes_lists:
            raise RefusedError(404, {"message": "No such route"})
        wanted = request.query_params["id" if is_v3 else "scoreIds"]
        return JSONResponse({"data": [item for item in self.stored.values() if item["id"] == wanted], "meta": {}})
