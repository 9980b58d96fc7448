"""Scores as annotations in Arize Phoenix: a turn's on its span, a conversation's on the session, else on the trace.

Phoenix keeps one annotation for a name, target and identifier; the identifier is the verdict's id, so that a resend
overwrites. Written synchronously, since Phoenix answers 404 then for what it does not know, and forgets silently in its
other mode. https://arize.com/docs/phoenix/sdk-api-reference/rest-api
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from collector.errors import PermanentError
from evaluators.verdict import Verdict
from exporters.errors import PartialExportError, TargetUnknownError
from exporters.http_api import HttpApi, segment
from exporters.scores.score import (
    annotator_kind,
    comment_of,
    has_span,
    is_on_conversation,
    label_of,
    metadata_of,
    score_name,
    score_of,
    session_id,
    why_no_score,
)

SPAN: Final = "span"
TRACE: Final = "trace"
SESSION: Final = "session"
_RESERVED: Final = "note"
"""Phoenix takes no annotation of this name."""


class PhoenixBackend:
    def __init__(self, api: HttpApi, *, content: bool = True, project: str = "default") -> None:
        """`project` is where scores are looked up again; writing needs none."""
        self._api = api
        self._content = content
        self._project = project

    def why_not(self, verdict: Verdict) -> str | None:
        return why_no_score(verdict)

    async def send(self, verdicts: Sequence[Verdict]) -> None:
        groups: dict[str, list[Verdict]] = {SPAN: [], TRACE: [], SESSION: []}
        for verdict in verdicts:
            groups[_first_choice(verdict)].append(verdict)
        failures: dict[str, TargetUnknownError | PermanentError] = {}
        failures |= await self._annotate(SPAN, groups[SPAN])
        # A session that Phoenix does not know may be none there at all: then the score belongs to the trace.
        unknown = await self._annotate(SESSION, groups[SESSION])
        groups[TRACE] += [verdict for verdict in groups[SESSION] if verdict.id in unknown]
        failures |= await self._annotate(TRACE, groups[TRACE])
        if failures:
            raise PartialExportError(f"{len(failures)} targets are not known to Phoenix.", failures=failures)

    async def find(self, verdict: Verdict) -> str | None:
        for level in (_first_choice(verdict), TRACE):
            answer = await self._api.call(
                "GET",
                f"/v1/projects/{segment(self._project)}/{level}_annotations",
                params={f"{level}_ids": _target_id(level, verdict), "limit": 1000},
                allow=(404,),
            )
            if answer.status == 404:
                continue
            for item in answer.json().get("data") or ():
                if item.get("identifier") == verdict.id:
                    return f"annotation {item.get('name')} on the {level} {_target_id(level, verdict)}"
        return None

    async def close(self) -> None:
        await self._api.close()

    async def _annotate(self, level: str, verdicts: Sequence[Verdict]) -> dict[str, TargetUnknownError]:
        """What was not taken because its target is not known; the rest was taken."""
        left = list(verdicts)
        unknown: dict[str, TargetUnknownError] = {}
        while left:
            body = {"data": [self._annotation(level, verdict) for verdict in left]}
            try:
                await self._api.call("POST", f"/v1/{level}_annotations", params={"sync": "true"}, json_body=body)
            except TargetUnknownError as err:
                # Nothing was written. The sentence names the ids that are missing, as far as it is long enough.
                named = [one for one in left if level != SESSION and _target_id(level, one) in str(err)]
                if not named and len(left) > 1:
                    middle = len(left) // 2
                    first = await self._annotate(level, left[:middle])
                    return unknown | first | await self._annotate(level, left[middle:])
                unknown |= dict.fromkeys((one.id for one in named or left), err)
                left = [one for one in left if one.id not in unknown]
            else:
                break
        return unknown

    def _annotation(self, level: str, verdict: Verdict) -> Mapping[str, object]:
        name = score_name(verdict)
        return {
            f"{level}_id": _target_id(level, verdict),
            "name": f"adhere_{name}" if name == _RESERVED else name,
            "annotator_kind": annotator_kind(verdict),
            "result": {
                "label": label_of(verdict),
                "score": score_of(verdict),
                "explanation": comment_of(verdict, content=self._content),
            },
            "metadata": metadata_of(verdict, content=self._content),
            "identifier": verdict.id,
        }


def _first_choice(verdict: Verdict) -> str:
    if is_on_conversation(verdict):
        return SESSION if session_id(verdict) else TRACE
    return SPAN if has_span(verdict) else TRACE


def _target_id(level: str, verdict: Verdict) -> str:
    if level == SESSION:
        return session_id(verdict) or ""
    return verdict.span_id if level == SPAN else verdict.trace_id
