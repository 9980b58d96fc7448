"""Test doubles: small public classes, one a file."""
