"""Arize Phoenix: annotations on spans, traces and sessions (server 20.26), unique by name, target and identifier."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.backends.stand_in import RefusedError, StandIn, Strict

_PLURAL = {"span": "Spans", "trace": "Traces", "session": "Sessions"}


class _Result(Strict):
    label: str | None = None
    score: float | None = None
    explanation: str | None = None


class _Annotation(Strict):
    span_id: str | None = None
    trace_id: str | None = None
    session_id: str | None = None
    name: str = Field(min_length=1)
    annotator_kind: Literal["LLM", "CODE", "HUMAN"]
    result: _Result | None = None
    metadata: dict[str, Any] | None = None
    identifier: str = ""


class _Body(Strict):
    data: list[_Annotation]


class PhoenixStandIn(StandIn):
    credentials: ClassVar = {"authorization": "Bearer phoenix-key"}
    options: ClassVar = {"api_key": "phoenix-key"}

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, set[str]] = {"span": set(), "trace": set(), "session": set()}

    def routes(self) -> list[Route]:
        return [
            *(Route(f"/v1/{level}_annotations", self._write(level), methods=["POST"]) for level in self.known),
            *(Route(f"/v1/projects/default/{level}_annotations", self._read(level)) for level in self.known),
        ]

    def _write(self, level: str) -> Any:
        async def write(request: Request) -> Response:
            body = _Body.model_validate_json(await request.body())
            targets = [getattr(item, f"{level}_id") for item in body.data]
            if None in targets:
                raise RefusedError(422, {"detail": [{"loc": ["body", f"{level}_id"], "msg": "Field required"}]})
            if any(item.name == "note" for item in body.data):
                raise RefusedError(400, "The name 'note' is reserved.")
            missing = sorted(set(targets) - self.known[level])
            if missing and request.query_params.get("sync") == "true":
                raise RefusedError(404, {"detail": f"{_PLURAL[level]} with IDs {', '.join(missing)} do not exist."})
            for item, target in zip(body.data, targets, strict=True):
                if target in self.known[level]:
                    key = f"{level}/{target}/{item.name}/{item.identifier}"
                    self.stored[key] = item.model_dump(exclude_none=True)
            return JSONResponse({"data": [{"id": "U3Bhbg=="} for _ in targets]})

        return write

    def _read(self, level: str) -> Any:
        async def read(request: Request) -> Response:
            wanted = request.query_params.getlist(f"{level}_ids")
            if not set(wanted) & self.known[level]:
                raise RefusedError(404, {"detail": "None of the supplied ids exist"})
            found = [
                item for key, item in self.stored.items() if key.split("/")[:2] in [[level, one] for one in wanted]
            ]
            return JSONResponse({"data": found, "next_cursor": None})

        return read
