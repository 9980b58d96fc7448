"""A rubric of the agent's own: compiled once a version from its system prompt and tools, kept, and open to people."""
