"""Declared rules on tools: order, presence, absence, counts, conditions, confirmation, provenance, loops. No model."""
