"""Permission for actions."""

from __future__ import annotations

from typing import Any

from annotation import models as m
from annotation.core.errors import Denied
from annotation.core.i18n import translatable
from annotation.core.vocabulary import Role

from .people import RESULT_ROLES, Operator, Viewer, roles

# verb -> the roles of the object's project of which one is needed
VERBS: dict[str, tuple[Role, ...]] = {
    "project.view": (Role.ANNOTATOR, Role.ADJUDICATOR, Role.ADMIN),
    "project.change": (Role.ADMIN,),
    "members.change": (Role.ADMIN,),
    "training.view": (Role.ADMIN,),
    "training.change": (Role.ADMIN,),
    "crowd.leave": (Role.ANNOTATOR,),
    "import": (Role.ADMIN,),
    "connections.change": (Role.ADMIN,),
    "assign": (Role.ADMIN,),
    "judges.change": (Role.ADMIN,),
    "suggest": (Role.ADMIN,),
    "judges_first.settle": (Role.ADMIN,),
    "influence.view": (Role.ADMIN,),
    "claim": (Role.ANNOTATOR,),
    "label": (Role.ANNOTATOR,),
    "agreement.view": (Role.ADJUDICATOR, Role.ADMIN),
    "agreement.pairs": (Role.ADMIN,),
    "rechecks.view": (Role.ADMIN,),
    "label_audit.change": (Role.ADMIN,),
    "progress.view": (Role.ADMIN,),
    "trajectory.list": (Role.ADMIN,),
    "trajectory.tag": (Role.ADMIN,),
    "adjudicate": (Role.ADJUDICATOR,),
    "disputes.view": (Role.ADJUDICATOR, Role.ADMIN),
    "item.replace": (Role.ADJUDICATOR, Role.ADMIN),
    "correct": (Role.ANNOTATOR, Role.ADJUDICATOR, Role.ADMIN),
    "example.mark": (Role.ADJUDICATOR, Role.ADMIN),
    "discuss": (Role.ANNOTATOR, Role.ADJUDICATOR, Role.ADMIN),
    "release.view": RESULT_ROLES,
    "release.freeze": (Role.ADMIN,),
    "release.withdraw": (Role.ADMIN,),
    "release.publish": (Role.ADMIN,),
    "release.derive": (Role.ADMIN,),
    "prompts.make": (Role.ADMIN,),
    "predictions.change": (Role.ADMIN,),
    "audit.view": (Role.ADMIN,),
}
ANYBODY_VERBS = frozenset({"account.change", "token.change"})
# at the command line, where demo projects and labels from files bring their people along; all others invite
OPERATOR_VERBS = frozenset({"member.add"})
SUPERUSER_VERBS = frozenset({"project.create", "account.create"})


def _project_of(obj: Any) -> int:
    project: int = obj.pk if isinstance(obj, m.Project) else obj.project_id
    return project


def allowed(actor: Viewer, verb: str, obj: Any = None, *, held: frozenset[Role] | None = None) -> bool:
    """Whether an actor may do an action. `obj` is a project or has one; for account verbs, the user.

    `held` are the actor's roles in the project, where they have just been read with the object itself.

    Labelling belongs to the assignment's own annotator, adjudicating to the case's own adjudicator, a
    correction to its author, a place of a crowd link to who has it; not even an operator does these in
    somebody's name (imports of finished labels have a verb of their own, "import").
    """
    if isinstance(actor, Operator):
        group = (VERBS, ANYBODY_VERBS, SUPERUSER_VERBS, OPERATOR_VERBS)
        own = ("label", "claim", "adjudicate", "discuss", "correct", "crowd.leave")
        return verb not in own and any(verb in verbs for verbs in group)
    if not isinstance(actor, m.User) or not actor.is_active:
        return False
    if verb in SUPERUSER_VERBS:
        return actor.is_superuser
    if verb in ANYBODY_VERBS:
        return obj is not None and (actor.is_superuser or obj.pk == actor.pk)
    if verb not in VERBS or obj is None:
        return False
    if held is None:
        held = roles(actor, _project_of(obj))
    if held.isdisjoint(VERBS[verb]):
        return False
    if isinstance(obj, m.Assignment) and verb == "label":
        return obj.annotator_id == actor.pk
    if isinstance(obj, m.Adjudication) and verb == "adjudicate":
        return obj.adjudicator_id == actor.pk
    if isinstance(obj, m.CrowdPlace) and verb == "crowd.leave":
        return obj.user_id == actor.pk
    if isinstance(obj, m.Correction) and verb == "correct":
        return obj.author_id == actor.pk
    if isinstance(obj, m.Adjudication) and verb == "example.mark":
        return Role.ADMIN in held or obj.adjudicator_id == actor.pk
    return True


def require(actor: Viewer, verb: str, obj: Any = None, *, held: frozenset[Role] | None = None) -> None:
    """Raise Denied unless `allowed`."""
    if not allowed(actor, verb, obj, held=held):
        raise Denied(translatable("You are not allowed to do this."), details={"verb": verb})
