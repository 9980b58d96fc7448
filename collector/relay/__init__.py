"""Sending OTLP on: destinations, the senders for them, retry, and the relay that follows the journal.

Nothing is imported here, so that who needs only the settings does not load an HTTP and a gRPC client.
"""
