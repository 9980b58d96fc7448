"""Opik's API: traces by search, feedback scores on traces, spans and threads, keyed by target and name."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.backends.stand_in import RefusedError, StandIn, Strict

_V7 = r"^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"


class _Score(Strict):
    project_name: str | None = None
    name: str = Field(min_length=1)
    category_name: str | None = None
    value: Annotated[float, Field(ge=-999999999, le=999999999)]
    reason: str | None = None
    source: Literal["ui", "sdk", "online_scoring"]


class _OnEntity(_Score):
    id: str = Field(pattern=_V7)


class _OnThread(_Score):
    thread_id: str = Field(min_length=1)


class _EntityBatch(Strict):
    scores: list[_OnEntity] = Field(min_length=1, max_length=1000)


class _ThreadBatch(Strict):
    scores: list[_OnThread] = Field(min_length=1, max_length=1000)


class _Thread(Strict):
    project_name: str
    thread_id: str


class OpikStandIn(StandIn):
    credentials: ClassVar = {"authorization": "opik-key", "comet-workspace": "team"}
    options: ClassVar = {"api_key": "opik-key", "workspace": "team", "project": "shop"}

    def __init__(self) -> None:
        super().__init__()
        self.traces: dict[str, datetime] = {}
        """Ids, each with the time that its trace began."""
        self.threads: set[str] = set()

    def routes(self) -> list[Route]:
        base = "/v1/private"
        return [
            Route(f"{base}/traces", self._search),
            Route(f"{base}/traces/threads/retrieve", self._retrieve, methods=["POST"]),
            Route(f"{base}/traces/feedback-scores", self._scores("trace"), methods=["PUT"]),
            Route(f"{base}/spans/feedback-scores", self._scores("span"), methods=["PUT"]),
            Route(f"{base}/traces/threads/feedback-scores", self._scores("thread"), methods=["PUT"]),
            Route(f"{base}/traces/{{id:uuid}}", self._one("trace")),
            Route(f"{base}/spans/{{id:uuid}}", self._one("span")),
        ]

    async def _search(self, request: Request) -> Response:
        query = request.query_params
        if query["project_name"] != "shop":
            raise RefusedError(404, {"errors": ["Project not found"]})
        [wanted] = json.loads(query["filters"])
        if (wanted["field"], wanted["operator"]) != ("id", "ends_with"):
            raise RefusedError(400, {"errors": ["Invalid filter"]})
        start, end = (datetime.fromisoformat(query[name]) for name in ("from_time", "to_time"))
        found = [key for key, at in self.traces.items() if key.endswith(wanted["value"]) and start <= at <= end]
        return JSONResponse({"page": 1, "size": len(found), "content": [{"id": key} for key in found]})

    async def _retrieve(self, request: Request) -> Response:
        body = _Thread.model_validate_json(await request.body())
        if body.thread_id not in self.threads:
            raise RefusedError(404, {"errors": ["Thread not found"]})
        return JSONResponse({"id": body.thread_id, "feedback_scores": self._of("thread", body.thread_id)})

    def _scores(self, level: str) -> Any:
        async def write(request: Request) -> Response:
            raw = await request.body()
            model = _ThreadBatch if level == "thread" else _EntityBatch
            for score in model.model_validate_json(raw).scores:
                found = score.model_dump(exclude_none=True)
                target = found.pop("thread_id", None) or found.pop("id")
                self.stored[f"{level}/{target}/{score.name}"] = found
            return Response(status_code=204)

        return write

    def _one(self, level: str) -> Any:
        async def read(request: Request) -> Response:
            key: UUID = request.path_params["id"]
            return JSONResponse({"id": str(key), "feedback_scores": self._of(level, str(key))})

        return read

    def _of(self, level: str, target: str) -> list[Any]:
        return [item for key, item in self.stored.items() if key.startswith(f"{level}/{target}/")]
