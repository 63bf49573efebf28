"""Costs that are measured: queries a minute, seconds and memory of a step, latency, padding."""
