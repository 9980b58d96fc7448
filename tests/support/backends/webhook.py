"""A receiver of Adhere's webhook: checks signature and time as the documentation tells it to, drops known ids."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from exporters.webhook import SCHEMA, is_signed
from tests.support.backends.stand_in import RefusedError, StandIn

SECRET = "webhook-secret-0123456789"


class WebhookStandIn(StandIn):
    options: ClassVar = {"secret": SECRET}

    def __init__(self, *, now_s: float = 0.0) -> None:
        super().__init__()
        self.now_s = now_s

    def routes(self) -> list[Route]:
        return [Route("/hooks/adhere", self._take, methods=["POST"])]

    async def _take(self, request: Request) -> Response:
        body = await request.body()
        if request.query_params.get("token") != "path-secret":
            raise RefusedError(403, {"message": "No such hook"})
        if not is_signed(
            body,
            timestamp=request.headers.get("adhere-timestamp", ""),
            given=request.headers.get("adhere-signature", ""),
            secret=SECRET,
            now_s=self.now_s,
        ):
            raise RefusedError(401, {"message": "Bad signature"})
        found: dict[str, Any] = json.loads(body)
        if found["schema"] != SCHEMA:
            raise RefusedError(400, {"message": "Unknown schema"})
        for verdict in found["verdicts"]:
            self.stored[verdict["id"]] = verdict
        return Response(status_code=204)
