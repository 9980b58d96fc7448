"""The name of a call: a hash over everything that its answer depends on."""

from __future__ import annotations

import hashlib
import json

from evaluators.judge.config import JudgeConfig
from evaluators.judge.question import Question, Repair

_FORMAT = "1"


def call_key(config: JudgeConfig, question: Question, repair: Repair | None, *, max_tokens: int, sample: int) -> str:
    """Not over the form of the request, which changes while an endpoint is getting known and says the same."""
    temperature = config.usual_temperature if config.temperature is None else config.temperature
    settings = [temperature, config.top_p, config.reasoning_effort, config.seed, max_tokens, sample]
    parts = [_FORMAT, config.base_url, config.model, json.dumps(settings), question.name]
    parts += [question.frame, question.record, question.text, question.schema_text()]
    if repair is not None:
        parts += [repair.content, repair.error.problem]
    digest = hashlib.blake2b(digest_size=20)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()
