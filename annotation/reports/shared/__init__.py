"""Rows and records that several subjects read."""
