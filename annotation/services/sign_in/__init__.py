"""Ways to sign in besides a password: through the organisation, and with a second factor."""
