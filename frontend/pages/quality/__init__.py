"""Pages of the quality of labels."""
