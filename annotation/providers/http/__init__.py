"""Call servers that may misbehave: addresses, deadlines, sizes, waits, and redaction of keys."""
