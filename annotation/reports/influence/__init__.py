"""Influence of suggestions on labels."""
