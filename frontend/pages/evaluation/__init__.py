"""Pages of models scored on a release."""
