"""Releases, what differs between them, and what the public may see."""
