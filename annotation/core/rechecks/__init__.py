"""Reliability of the consensus: rechecks of resolved trajectories, and conclusions from them (docs/design.md,
"Statistics"). Pure functions.

`sampling` chooses rechecks, `label_error` estimates how often the consensus is wrong, `rater_confusion` the
confusion of each person, and `drift` whether a person's labels get worse.
"""
