"""Rechecks of resolved trajectories, and conclusions from them (docs/design.md, "Statistics"). Pure
functions.

`sampling` chooses rechecks, `rater_confusion` estimates the confusion of each person, and `drift` whether a
person's labels get worse. What audits prove of the consensus: `core.audits`.
"""
