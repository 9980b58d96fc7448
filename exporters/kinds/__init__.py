"""Each kind of exporter that can be configured: its options, and how it is built from them. One file a kind."""
