"""Traces: spans, observations and runs of tracing tools."""
