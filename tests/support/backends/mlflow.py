"""MLflow's tracking server (3.17): traces with assessments. An assessment is never overwritten by a POST."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.backends.stand_in import RefusedError, StandIn, Strict

_BASE = "/api/3.0/mlflow/traces/{trace_id}"


class _Source(Strict):
    source_type: Literal["HUMAN", "LLM_JUDGE", "CODE"]
    source_id: str


class _Error(Strict):
    error_code: str
    error_message: str | None = None


class _Feedback(Strict):
    value: float | str | bool | None = None
    error: _Error | None = None


class _Assessment(Strict):
    assessment_id: str | None = None
    assessment_name: str
    trace_id: str = Field(pattern=r"^tr-[0-9a-f]{32}$")
    span_id: str | None = Field(default=None, pattern=r"^[0-9a-f]{16}$")
    source: _Source
    feedback: _Feedback
    rationale: str | None = None
    metadata: dict[str, str]
    create_time: str
    last_update_time: str
    overrides: str | None = None
    valid: bool = True


class _Create(Strict):
    assessment: _Assessment


class _Update(_Create):
    update_mask: str


class MlflowStandIn(StandIn):
    credentials: ClassVar = {"authorization": "Bearer mlflow-token"}
    options: ClassVar = {"token": "mlflow-token"}

    def __init__(self) -> None:
        super().__init__()
        self.traces: set[str] = set()

    def routes(self) -> list[Route]:
        return [
            Route(_BASE, self._read),
            Route(f"{_BASE}/assessments", self._create, methods=["POST"]),
            Route(f"{_BASE}/assessments/{{assessment_id}}", self._update, methods=["PATCH"]),
        ]

    async def _read(self, request: Request) -> Response:
        trace_id = self._known(request)
        found = [item for item in self.stored.values() if item["trace_id"] == trace_id]
        return JSONResponse({"trace": {"trace_info": {"trace_id": trace_id, "assessments": found}}})

    async def _create(self, request: Request) -> Response:
        self._known(request)
        assessment = _Create.model_validate_json(await request.body()).assessment.model_dump(exclude_none=True)
        key = assessment.get("assessment_id") or f"a-{len(self.stored)}"
        if key in self.stored:
            raise RefusedError(500, {"error_code": "INTERNAL_ERROR", "message": "constraint violation"})
        overridden = assessment.get("overrides")
        if overridden is not None:
            if overridden not in self.stored:
                raise RefusedError(404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "Assessment not found"})
            self.stored[overridden]["valid"] = False
        self.stored[key] = {**assessment, "assessment_id": key}
        return JSONResponse({"assessment": self.stored[key]})

    async def _update(self, request: Request) -> Response:
        self._known(request)
        key = request.path_params["assessment_id"]
        body = _Update.model_validate_json(await request.body())
        if key not in self.stored:
            raise RefusedError(404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "Assessment not found"})
        changed: dict[str, Any] = body.assessment.model_dump(exclude_none=True)
        self.stored[key] |= {name: changed[name] for name in body.update_mask.split(",") if name in changed}
        return JSONResponse({"assessment": self.stored[key]})

    def _known(self, request: Request) -> str:
        trace_id = request.path_params["trace_id"]
        if trace_id not in self.traces:
            message = f"Trace with ID {trace_id} is not found."
            raise RefusedError(404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": message})
        return str(trace_id)
