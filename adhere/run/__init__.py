"""The running sidecar: two processes, supervised, and the composition root of each."""
