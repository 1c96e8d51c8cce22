"""Pages of the work itself: imports, trajectories, claims, labelling."""
