"""Of several answers that a call asked for the first, which is what an agent goes on with.

Only where the span says that they are choices: a list of messages may as well be one answer in several.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from collector.messages.values import as_int, decode
from collector.operation import Operation, OperationKind, Role


def with_first_choice(operation: Operation, attributes: Mapping[str, Any]) -> Operation:
    output = operation.output
    is_of_choices = operation.kind is OperationKind.MODEL_CALL and all(one.role is Role.ASSISTANT for one in output)
    if is_of_choices and len(output) in _counts(attributes):
        return replace(operation, output=output[:1])
    return operation


def _counts(attributes: Mapping[str, Any]) -> set[int | None]:
    reasons = attributes.get("gen_ai.response.finish_reasons")
    parameters = decode(attributes.get("llm.invocation_parameters"))
    return {
        len(reasons) if isinstance(reasons, (list, tuple)) else None,
        as_int(attributes.get("gen_ai.request.choice.count")),
        as_int(parameters.get("n")) if isinstance(parameters, Mapping) else None,
    }
