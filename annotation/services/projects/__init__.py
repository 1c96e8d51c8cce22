"""Projects: their settings, guidelines, subsets, members, invitations, experiment and queue."""

from .experiment import randomise, stop_randomising
from .members import accept_invitation, add_member, invitation_of, invite, remove_member, revoke_invitation
from .settings import SETTINGS, create_project, ensure_subset, update_project, update_subset, write_guidelines
from .triage import Triaged, triage, undo_triage

__all__ = [
    "SETTINGS",
    "Triaged",
    "accept_invitation",
    "add_member",
    "create_project",
    "ensure_subset",
    "invitation_of",
    "invite",
    "randomise",
    "remove_member",
    "revoke_invitation",
    "stop_randomising",
    "triage",
    "undo_triage",
    "update_project",
    "update_subset",
    "write_guidelines",
]
