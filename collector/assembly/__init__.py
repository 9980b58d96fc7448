"""collector/assembly."""
