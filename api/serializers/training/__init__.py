"""Training: subsets and keys, the tutorial and tests; gold and pilots."""
