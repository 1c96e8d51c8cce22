"""Releases: their contents, and those of the next one."""
