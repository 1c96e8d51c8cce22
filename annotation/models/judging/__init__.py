"""Judges, their runs and what they suggest, and what models predict."""
