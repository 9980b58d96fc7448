"""collector/telemetry."""
