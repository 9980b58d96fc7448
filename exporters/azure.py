"""Verdicts as custom events in Azure Monitor's Application Insights, where Foundry's evaluation views look for them.

Each is an event `gen_ai.evaluation.result` with the conventions' attributes, correlated with the target span by
operation id and parent id. Events add up there: one sent again after a crash stands there twice, with the same
`adhere.verdict.id`. All outcomes are sent. Nothing can be read back with an instrumentation key.
https://learn.microsoft.com/azure/azure-monitor/app/custom-events
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from collector.errors import PermanentError, RetryableError
from evaluators.verdict import Verdict
from exporters.errors import PartialExportError
from exporters.http_api import HttpApi
from exporters.otlp.attributes import EVENT_NAME, evaluation_attributes, score_value
from exporters.otlp.envelope import UNKNOWN_SERVICE
from exporters.scores.score import has_span, has_trace, target_time_text
from exporters.text import clean_line

_PATH: Final = "/v2.1/track"
_ENVELOPE: Final = "Microsoft.ApplicationInsights.Event"
_MAX_VALUE_CHARS: Final = 8192
_QUOTA: Final = frozenset({402, 439})
_RETRYABLE: Final = frozenset({401, 403, 408, 429, 500, 502, 503, 504}) | _QUOTA
_PARTLY: Final = 206


class AzureBackend:
    def __init__(self, api: HttpApi, *, instrumentation_key: str, version: str, content: bool = True) -> None:
        """`version` is Adhere's."""
        self._api = api
        self._key = instrumentation_key
        self._version = version
        self._content = content

    def why_not(self, verdict: Verdict) -> str | None:  # noqa: ARG002 - an event has a form for every outcome
        return None

    async def send(self, verdicts: Sequence[Verdict]) -> None:
        events = [self._envelope(verdict) for verdict in verdicts]
        answer = await self._api.call("POST", _PATH, json_body=events, allow=(_PARTLY, *_QUOTA, 400))
        if answer.status in _QUOTA:
            raise RetryableError("Application Insights answered that the quota is used up.")
        if answer.status in (_PARTLY, 400):
            _raise_partly(answer.json(), verdicts)

    async def close(self) -> None:
        await self._api.close()

    def _envelope(self, verdict: Verdict) -> dict[str, object]:
        attributes = evaluation_attributes(verdict, content=self._content)
        properties = {
            key: (str(value).lower() if isinstance(value, bool) else str(value))[:_MAX_VALUE_CHARS]
            for key, value in attributes.items()
        }
        score = score_value(verdict)
        tags = {
            "ai.cloud.role": clean_line(verdict.service or UNKNOWN_SERVICE, max_chars=256),
            "ai.internal.sdkVersion": f"adhere:{self._version}",
            # Otherwise the service looks up where the sender's address is.
            "ai.location.ip": "0.0.0.0",  # noqa: S104 - no address to bind to
        }
        if has_trace(verdict):
            tags["ai.operation.id"] = verdict.trace_id
        if has_span(verdict):
            tags["ai.operation.parentId"] = verdict.span_id
        return {
            "ver": 1,
            "name": _ENVELOPE,
            "time": target_time_text(verdict),
            "sampleRate": 100.0,
            "iKey": self._key,
            "tags": tags,
            "data": {
                "baseType": "EventData",
                "baseData": {
                    "ver": 2,
                    "name": EVENT_NAME,
                    "properties": properties,
                    "measurements": {} if score is None else {"gen_ai.evaluation.score.value": score},
                },
            },
        }


def _raise_partly(found: Any, verdicts: Sequence[Verdict]) -> None:
    """Which of the events were refused, by their place in the request, and whether another try may help."""
    failures: dict[str, RetryableError | PermanentError] = {}
    errors = found.get("errors") if isinstance(found, Mapping) else None
    for error in errors or ():
        index, status = error.get("index"), error.get("statusCode")
        if isinstance(index, int) and 0 <= index < len(verdicts):
            message = f"Application Insights refused the event with {status}."
            failure = RetryableError(message) if status in _RETRYABLE else PermanentError(message)
            failures[verdicts[index].id] = failure
    if not failures:
        raise PermanentError("Application Insights refused the events and did not say which.")
    raise PartialExportError(f"{len(failures)} of {len(verdicts)} events were refused.", failures=failures)
