"""One request as a scripted judge got it, with the parts of it that scripts ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class JudgeCall:
    number: int
    """Counts from 0 over the server's life."""
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Any]

    @property
    def messages(self) -> list[Mapping[str, Any]]:
        return list(self.body.get("messages", []))

    @property
    def text(self) -> str:
        """All message contents, one after the other."""
        return "\n\n".join(str(message.get("content")) for message in self.messages)

    @property
    def schema_name(self) -> str | None:
        """The evaluator that asks, where the request carries a schema."""
        schema = self.body.get("response_format", {}).get("json_schema", {})
        name = schema.get("name")
        return str(name) if name is not None else None

    @property
    def prompt_tokens(self) -> int:
        """A rough count, as no tokenizer is at hand: four bytes are a token."""
        return len(self.text.encode(errors="surrogatepass")) // 4
