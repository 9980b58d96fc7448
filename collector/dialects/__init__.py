"""collector/dialects."""
