"""collector/otlp."""
