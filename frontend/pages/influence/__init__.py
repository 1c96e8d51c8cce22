"""Pages of what suggestions do to labels."""
