"""Connections to servers elsewhere."""
