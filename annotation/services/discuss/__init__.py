"""Discuss: those who labelled a disputed trajectory and its adjudicator talk about it, and may change their
mind.

A discussion is opened by the adjudicator who has the case, or by an admin. From then on the annotators see
each other's submitted labels of this trajectory, as "A" and "B". Labels are never touched: a change of mind
is a revision, which stands beside them.
"""

from .comments import MAX_COMMENT, comment, mark_read, open_discussion, retract, see_discussion, see_notices
from .permissions import tell_others
from .revisions import revise

__all__ = [
    "MAX_COMMENT",
    "comment",
    "mark_read",
    "open_discussion",
    "retract",
    "revise",
    "see_discussion",
    "see_notices",
    "tell_others",
]
