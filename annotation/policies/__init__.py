"""Permission and blindness: who may see and do what, decided here and nowhere else (docs/design.md, "Who may
see what").

Three questions, three functions. `visible(user, queryset)`: which rows. `field_access(user, trajectory)`:
which fields of a trajectory. `require(actor, verb, obj)`: which actions. Everything fails closed: a model or
verb that is not listed is refused.

One rule stands above the roles: a person with an unsubmitted assignment of their own on a trajectory sees it
as an annotator, whatever else they are.
"""

from .access import (
    NO_ACCESS,
    FieldAccess,
    being_labelled,
    deals_people,
    field_access,
    kept_from_lists,
    shown_state,
    suggestion_policy,
)
from .discussions import participants, voice_of
from .people import OPERATOR, ROLE_FIELDS, Actor, Operator, Viewer, recorded, roles
from .public import published, require_published
from .verbs import ANYBODY_VERBS, SUPERUSER_VERBS, VERBS, allowed, require
from .visibility import VISIBLE, own, visible

__all__ = [
    "ANYBODY_VERBS",
    "NO_ACCESS",
    "OPERATOR",
    "ROLE_FIELDS",
    "SUPERUSER_VERBS",
    "VERBS",
    "VISIBLE",
    "Actor",
    "FieldAccess",
    "Operator",
    "Viewer",
    "allowed",
    "being_labelled",
    "deals_people",
    "field_access",
    "kept_from_lists",
    "own",
    "participants",
    "published",
    "recorded",
    "require",
    "require_published",
    "roles",
    "shown_state",
    "suggestion_policy",
    "visible",
    "voice_of",
]
