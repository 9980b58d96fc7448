"""OTLP in: the HTTP and gRPC receivers, from the socket to the journal.

`http.HttpReceiver` and `grpc.GrpcReceiver` share one `intake.Intake`, and with it one set of limits. Nothing is
imported here, since gRPC is slow to import and a process may need one receiver only.
"""
