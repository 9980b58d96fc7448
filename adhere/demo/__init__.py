"""`adhere demo`: the real sidecar on recordings of real instrumentations, in a temporary folder."""
