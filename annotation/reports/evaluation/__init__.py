"""Models scored on a release."""
