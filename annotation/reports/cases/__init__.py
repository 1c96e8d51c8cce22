"""Disputes, their discussions and cases, and what happened to a step."""
