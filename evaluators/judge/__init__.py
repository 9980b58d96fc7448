"""The model judge: one question in, one checked answer out, over any OpenAI-compatible endpoint.

`judge` is what evaluators ask; `connect` makes one from a `JudgeConfig`. Importing this package imports no client.
"""
