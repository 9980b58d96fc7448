"""Input forms: what people and other tools hold a conversation in, converted at the edge to `collector.model`."""

from evaluators.formats.columns import ColumnMap
from evaluators.formats.registry import FORMAT_NAMES, conversation_from, conversations_from

__all__ = ["FORMAT_NAMES", "ColumnMap", "conversation_from", "conversations_from"]
