"""Which version of an agent a conversation was held with, as far as a rubric for it is concerned.

A version is what the system prompt and the tools say, whatever the telemetry calls it, so a changed prompt is never
judged by the old one's rubric. Prompts that are made anew for each conversation hold its time, its ids and its
addresses: these are masked, so that they make no new versions. Plain numbers stay, since limits are made of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from collector.model import Conversation
from evaluators.content import digest_of

_VOLATILE = re.compile(
    r"""
    [0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}     # UUIDs
    | \d{4}[-/.]\d{1,2}[-/.]\d{1,2} (?:[T\s]+\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?   # dates
    | \d{1,2}[-/.]\d{1,2}[-/.]\d{4}
    | \b\d{1,2}:\d{2}(?::\d{2})?\b                                                  # times
    | [\w.+-]+@[\w-]+\.[\w.-]+                                                      # addresses
    | \b(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{12,}\b                                        # hashes, long ids
    """,
    re.VERBOSE,
)
_MAX_MASKED_CHARS = 200_000
_KEY_HEX_DIGITS = 12


@dataclass(frozen=True, slots=True)
class AgentVersion:
    service: str | None
    agent: str | None
    declared: str | None
    """The version that the telemetry names; shown, and never relied on."""
    key: str
    """12 hex digits over service, agent, system prompt and tools."""

    @property
    def agent_key(self) -> str:
        """The same for all versions of the agent."""
        return agent_key(self.service, self.agent)

    @property
    def name(self) -> str:
        return self.agent or self.service or "agent"


def agent_key(service: str | None, agent: str | None) -> str:
    return f"agent-{digest_of([service, agent])[:_KEY_HEX_DIGITS]}"


def agent_version_of(conversation: Conversation) -> AgentVersion | None:
    """None: neither a system prompt nor a tool is known, so nothing can be compiled."""
    prompt = (conversation.system_instructions or "").strip()
    tools = sorted(
        [[tool.name, tool.description, tool.parameters] for tool in conversation.tool_definitions],
        key=lambda tool: str(tool[0]),
    )
    if not prompt and not any(description or parameters for _, description, parameters in tools):
        return None
    masked = " ".join(_VOLATILE.sub("#", prompt[:_MAX_MASKED_CHARS]).split()) + prompt[_MAX_MASKED_CHARS:]
    agent = conversation.agent
    return AgentVersion(
        service=conversation.service,
        agent=agent.name,
        declared=agent.version,
        key=digest_of([conversation.service, agent.name, masked, tools])[:_KEY_HEX_DIGITS],
    )
