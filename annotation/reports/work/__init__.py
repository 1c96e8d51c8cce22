"""The work itself: trajectories, progress, claims, the workbench."""
