"""Strict stand-ins for the score APIs of other backends, written from their documentation: real HTTP on loopback.

They refuse what the API refuses: another path or method, missing credentials, missing or unknown fields, wrong types
and ranges. What they took is kept under the API's own key, so that a resend shows.
"""
