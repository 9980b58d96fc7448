"""A batch interface for tests: reads an OpenAI Batch input, has a script answer it, writes a Batch output."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.support.judge_call import JudgeCall
from tests.support.judge_reply import Script


def read_batch(path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def run_batch(requests: Iterable[Mapping[str, Any]], script: Script, path: Path) -> Path:
    """In the opposite order, as batch interfaces promise none."""
    lines = [_answer(number, request, script) for number, request in enumerate(requests)]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in reversed(lines)))
    return path


def _answer(number: int, request: Mapping[str, Any], script: Script) -> Mapping[str, Any]:
    call = JudgeCall(number, request["url"], {}, request["body"])
    reply = script(call)
    message = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    body = {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
        "usage": {
            "prompt_tokens": call.prompt_tokens,
            "completion_tokens": len(reply.content or "") // 4,
            "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
        },
    }
    response = {"status_code": reply.status, "request_id": f"req-{number}", "body": body}
    return {"id": f"batch-{number}", "custom_id": request["custom_id"], "response": response, "error": None}
