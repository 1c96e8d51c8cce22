"""Pages of training: keyed trajectories, the tutorial, tests, gold and pilots."""
