"""What suggestions do to labels."""
