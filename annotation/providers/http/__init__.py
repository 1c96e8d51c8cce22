"""Talking to servers that may misbehave: addresses, deadlines, sizes, waits, and keys kept out of records."""
