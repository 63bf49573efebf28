"""Measures, tests over queries, published values, claims, verdicts."""
