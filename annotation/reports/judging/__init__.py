"""Judges, their runs and suggestions."""
