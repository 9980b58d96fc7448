"""OTLP's data in our own form (`records`), and the ways in.

Protobuf by `decode`, JSON by `json_decode`, files of JSON lines by `jsonl`; `validate` says beforehand if it is OTLP.
"""
