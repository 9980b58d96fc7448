"""OTLP's data in our own form (`records`), and the ways in: protobuf (`decode`), JSON (`json_decode`), files (`jsonl`)."""
