"""Verdicts as OTLP: evaluation events (logs), evaluation spans (traces), and metrics.

Protobuf classes stay inside this folder. Everything here is known as Adhere's own by its scope, `adhere.evaluation`,
while the resource's `service.name` is the service that was judged, so that scores are found where its telemetry is.
"""
