"""The certificate of labels, from audits of resolved trajectories (docs/agreement.md). Pure functions.

`drawing` draws the trajectories, `certificate` bounds the share of wrong steps, and `planning` says how many
draws a bound takes.
"""
