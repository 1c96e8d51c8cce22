"""Decisions: one history and some candidates for the next action, as trajectories whose only steps are
these."""
