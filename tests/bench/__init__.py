"""Benchmarks with a main of their own; pytest runs none of them."""
