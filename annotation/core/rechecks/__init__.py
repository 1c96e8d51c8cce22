"""Whether the consensus can be believed: what is labelled once more, and what is concluded from it
(docs/design.md, "Statistics"). Pure functions.

`drawing` chooses what is rechecked, `label_error` says how often the consensus is wrong, `rater_confusion`
what each person takes for what.
"""
