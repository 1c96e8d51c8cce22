"""Projects: their settings, guidelines, subsets, members, invitations, experiment and queue."""

from .crowd_links import change_crowd_link, close_crowd_link, create_crowd_link
from .crowd_places import (
    arrival,
    crowd_link_of,
    enter,
    finish_place,
    return_place,
    sweep_places,
    way_back,
)
from .experiment import randomise, stop_randomising
from .invitations import (
    accept_invitation,
    decline_invitation,
    invitation_of,
    invite,
    invite_all,
    invited_people,
    people_listed,
    renew_invitation,
    revoke_invitation,
)
from .members import add_member, remove_member, set_roles
from .qualifications import set_qualifications
from .settings import (
    SETTINGS,
    close_checklist,
    create_project,
    ensure_subset,
    read_guidelines,
    update_project,
    update_subset,
    write_guidelines,
)
from .starting import settings_from, start_project
from .triage import TriageResult, triage, undo_triage

__all__ = [
    "SETTINGS",
    "TriageResult",
    "accept_invitation",
    "add_member",
    "arrival",
    "change_crowd_link",
    "close_checklist",
    "close_crowd_link",
    "create_crowd_link",
    "create_project",
    "crowd_link_of",
    "decline_invitation",
    "ensure_subset",
    "enter",
    "finish_place",
    "invitation_of",
    "invite",
    "invite_all",
    "invited_people",
    "people_listed",
    "randomise",
    "read_guidelines",
    "remove_member",
    "renew_invitation",
    "return_place",
    "revoke_invitation",
    "set_qualifications",
    "set_roles",
    "settings_from",
    "start_project",
    "stop_randomising",
    "sweep_places",
    "triage",
    "undo_triage",
    "update_project",
    "update_subset",
    "way_back",
    "write_guidelines",
]
