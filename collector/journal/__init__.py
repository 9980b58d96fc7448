"""collector/journal."""
