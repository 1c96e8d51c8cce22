"""Projects: their settings, guidelines, subsets, members and invitations."""

from .members import accept_invitation, add_member, invitation_of, invite, remove_member, revoke_invitation
from .queue import lower_cursors
from .settings import SETTINGS, create_project, ensure_subset, update_project, update_subset, write_guidelines

__all__ = [
    "SETTINGS",
    "accept_invitation",
    "add_member",
    "create_project",
    "ensure_subset",
    "invitation_of",
    "invite",
    "lower_cursors",
    "remove_member",
    "revoke_invitation",
    "update_project",
    "update_subset",
    "write_guidelines",
]
