"""W&B Weave's feedback API: a row for each create, even with a known id; `replace` overwrites."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.backends.stand_in import RefusedError, StandIn, Strict

_PROJECT = "team/shop"


class _Create(Strict):
    id: UUID
    project_id: str = Field(pattern=r"^[^/]+/[^/]+$")
    weave_ref: str = Field(pattern=r"^weave:///team/shop/call/[0-9a-f]{16}$")
    feedback_type: str = Field(pattern=r"^adhere\..+$")
    payload: dict[str, Any]
    scorer_ratings: dict[str, Annotated[float, Field(ge=0, le=1)]] | None = None
    scorer_rating_reasons: dict[str, str] | None = None
    scorer_tags: list[str] | None = None
    span_trace_id: str | None = None
    span_conversation_id: str | None = None
    span_agent_name: str | None = None
    span_agent_version: str | None = None


class _Replace(_Create):
    feedback_id: UUID


class _Query(Strict):
    project_id: str
    query: dict[str, Any]
    fields: list[str]
    limit: int


class WeaveStandIn(StandIn):
    # base64 of "api:wb-secret"
    credentials: ClassVar = {"authorization": "Basic YXBpOndiLXNlY3JldA=="}
    options: ClassVar = {"api_key": "wb-secret", "entity": "team", "project": "shop"}

    def routes(self) -> list[Route]:
        return [
            Route("/feedback/create", self._create, methods=["POST"]),
            Route("/feedback/replace", self._replace, methods=["POST"]),
            Route("/feedback/query", self._query, methods=["POST"]),
        ]

    async def _create(self, request: Request) -> Response:
        body = _Create.model_validate_json(await request.body())
        self._check(body.project_id)
        self.stored[f"{body.id}#{len(self.stored)}"] = body.model_dump(exclude_none=True, mode="json")
        return JSONResponse({"id": str(body.id)})

    async def _replace(self, request: Request) -> Response:
        body = _Replace.model_validate_json(await request.body())
        self._check(body.project_id)
        found = [key for key in self.stored if key.startswith(f"{body.feedback_id}#")]
        if not found:
            raise RefusedError(404, {"detail": "Feedback not found"})
        for key in found:
            self.stored[key] = body.model_dump(exclude_none=True, exclude={"feedback_id"}, mode="json")
        return JSONResponse({"id": str(body.id)})

    async def _query(self, request: Request) -> Response:
        body = _Query.model_validate_json(await request.body())
        self._check(body.project_id)
        field, literal = body.query["$expr"]["$eq"]
        assert field == {"$getField": "id"}
        wanted = literal["$literal"]
        return JSONResponse({"result": [{"id": wanted} for key in self.stored if key.startswith(f"{wanted}#")][:1]})

    def _check(self, project_id: str) -> None:
        if project_id != _PROJECT:
            raise RefusedError(403, {"detail": "No access to the project"})
