"""Holding a turn's target span until its scores are in, and relaying it with them; all other spans pass at once.

`cutting` takes spans out of requests and adds attributes to them without touching another byte; `candidates` says what
a request's spans are and `deciding` which of them are held; `store` keeps those on disk; `hold` brings it together, and
`reader` stands between the journal and a relay. Who judges, and what a score looks like, is not known here.
"""
