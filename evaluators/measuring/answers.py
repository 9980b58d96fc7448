"""Answers of a judge in a file, in the form of an OpenAI Batch output: kept as they come, and read in any order.

A line has `custom_id`, `response.status_code`, `response.body` (a chat completion) and `error`. The id is a hash of
all that the judge was told, so an answer only ever counts for the request that it was given to.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TextIO

from evaluators.content import digest_of
from evaluators.errors import EvaluatorConfigError
from evaluators.judge.completion import Completion, Usage, read_completion
from evaluators.judge.errors import JudgeError
from evaluators.judge.question import Question, Repair

_DIGEST_DIGITS = 24


@dataclass(frozen=True, slots=True)
class Kept:
    completion: Completion
    duration_s: float | None = None


@dataclass(slots=True)
class Answers:
    """What stands in the files; of several answers to one request the first that is one."""

    kept: dict[str, Kept] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    """By id, why there is no answer; not for requests that have one as well."""
    unreadable_lines: int = 0

    @property
    def failures(self) -> Mapping[str, int]:
        return Counter(self.failed.values())


def custom_id(question: Question, repair: Repair | None, *, nth: int) -> str:
    """At most 64 of `[a-zA-Z0-9_-]`; `nth` counts how often the same request was made before."""
    told: list[object] = [question.name, question.frame, question.record, question.text, question.schema]
    if repair is not None:
        told += [repair.content, repair.error.problem]
    name = "".join(char if char.isascii() and char.isalnum() else "_" for char in question.name)[:30]
    return f"{name}-{digest_of(told)[:_DIGEST_DIGITS]}" + (f"-{nth}" if nth else "")


def read_answers(paths: Sequence[Path], *, model: str | None = None) -> Answers:
    """With `model`, only answers that were kept for it. Raises `EvaluatorConfigError` for what cannot be read."""
    answers = Answers()
    for path in paths:
        try:
            body = path.read_bytes()
        except OSError as err:
            raise EvaluatorConfigError(f"The file {path} cannot be read: {err.strerror}.") from err
        for line in body.split(b"\n"):
            if line.strip():
                _take(line, answers, model)
    return answers


def read_kept(path: Path, *, model: str) -> Answers:
    """What an earlier run kept, which may be nothing."""
    return read_answers([path] if path.exists() else [], model=model)


def _take(line: bytes, answers: Answers, model: str | None) -> None:
    try:
        record = json.loads(line)
        name = record["custom_id"]
        response, error = record.get("response"), record.get("error")
        status = 0 if response is None else response.get("status_code", 200)
        body = None if response is None else response["body"]
        body = json.loads(body) if isinstance(body, str) else body
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        name = None
    if not isinstance(name, str):
        answers.unreadable_lines += 1
        return
    if model is not None and record.get("adhere_model") != model:
        return
    failure = _failure(status, error)
    if failure is None:
        try:
            completion = read_completion(json.dumps(body).encode())
        except JudgeError:
            failure = "no chat completion"
        else:
            if name not in answers.kept:
                duration_s = record.get("adhere_duration_s")
                answers.kept[name] = Kept(completion, duration_s if isinstance(duration_s, float) else None)
                answers.failed.pop(name, None)
            return
    if name not in answers.kept:
        answers.failed[name] = failure


def _failure(status: object, error: object) -> str | None:
    if isinstance(error, Mapping) and error:
        code = str(error.get("code") or "").lower()
        known = code if len(code) <= 40 and code.replace("_", "").isalnum() else ""
        return f"error {known}".strip()
    return None if status == 200 else f"status {status}" if isinstance(status, int) and status else "no response"


class AnswerLog(Protocol):
    def keep(self, name: str, completion: Completion, *, duration_s: float) -> None: ...


class AnswerFile:
    """Appends each answer as it comes; a line is whole or, where the process was killed in it, is read as none."""

    def __init__(self, path: Path, *, model: str) -> None:
        """Raises `EvaluatorConfigError` when the file cannot be written."""
        self._model = model
        try:
            path.touch(mode=0o600)  # Reasons and quotes are people's words.
            self._file: TextIO = path.open("a", encoding="utf-8")
            if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
                self._file.write("\n")
        except OSError as err:
            raise EvaluatorConfigError(f"Answers cannot be kept in {path}: {err.strerror}.") from err

    def keep(self, name: str, completion: Completion, *, duration_s: float) -> None:
        line = {
            "custom_id": name,
            "response": {"status_code": 200, "body": _body(completion)},
            "error": None,
            "adhere_model": self._model,
            "adhere_duration_s": round(duration_s, 4),
        }
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


def _body(completion: Completion) -> Mapping[str, Any]:
    refusal = "refused" if completion.refused else None
    message = {"role": "assistant", "content": completion.content or None, "refusal": refusal}
    body: dict[str, Any] = {"choices": [{"message": message, "finish_reason": completion.finish_reason}]}
    usage = completion.usage
    if completion.model is not None:
        body["model"] = completion.model
    if usage is not None:
        body["usage"] = _usage(usage)
    return body


def _usage(usage: Usage) -> Mapping[str, Any]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_input_tokens},
    }
