"""Training: subsets and keys, the tutorial, tests, gold and pilots."""
