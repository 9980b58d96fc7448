"""collector/relay."""
