"""A role that is configured, and wins over the system prompt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Role:
    """A role text, or a product with what it can, must and cannot do; all empty: the conversation sets the role."""

    role: str | None = None
    product_description: str | None = None
    capabilities: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    inabilities: tuple[str, ...] = ()

    @property
    def text(self) -> str | None:
        parts = [part for part in (self.role, self.product_description) if part is not None]
        for title, items in (
            ("Can do", self.capabilities),
            ("Policies", self.policies),
            ("Cannot do", self.inabilities),
        ):
            if items:
                parts.append("\n".join([f"{title}:", *(f"- {item}" for item in items)]))
        return "\n".join(parts) or None
