"""tests/exporters/outbox."""
