"""Application Insights' ingestion: a list of envelopes, each taken or refused by its place; everything adds up."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AwareDatetime, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.backends.stand_in import StandIn, Strict

KEY = "00000000-1111-2222-3333-444444444444"
Value = Annotated[str, Field(max_length=8192)]


class _EventData(Strict):
    ver: Literal[2]
    name: str = Field(min_length=1, max_length=512)
    properties: dict[Annotated[str, Field(max_length=150)], Value]
    measurements: dict[str, float]


class _Data(Strict):
    baseType: Literal["EventData"]  # noqa: N815 - the API's name
    baseData: _EventData  # noqa: N815 - the API's name


class _Envelope(Strict):
    ver: Literal[1]
    name: Literal["Microsoft.ApplicationInsights.Event"]
    time: AwareDatetime
    sampleRate: float  # noqa: N815 - the API's name
    iKey: Literal["00000000-1111-2222-3333-444444444444"]  # noqa: N815 - the API's name
    tags: dict[str, str]
    data: _Data


class AzureStandIn(StandIn):
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.refuse: dict[int, int] = {}
        """Status by place in the request."""

    def routes(self) -> list[Route]:
        return [Route("/v2.1/track", self._take, methods=["POST"])]

    async def _take(self, request: Request) -> Response:
        envelopes = await request.json()
        errors = []
        for index, raw in enumerate(envelopes):
            try:
                envelope = _Envelope.model_validate(raw, strict=False)
            except ValidationError as err:
                errors.append({"index": index, "statusCode": 400, "message": str(err)})
                continue
            if index in self.refuse:
                errors.append({"index": index, "statusCode": self.refuse[index], "message": "refused"})
                continue
            self.stored[str(len(self.stored))] = envelope.model_dump(mode="json")
        answer = {
            "itemsReceived": len(envelopes),
            "itemsAccepted": len(envelopes) - len(errors),
            "errors": errors,
        }
        status = 200 if not errors else 400 if len(errors) == len(envelopes) else 206
        return JSONResponse(answer, status_code=status)
