"""Formats of an export."""
