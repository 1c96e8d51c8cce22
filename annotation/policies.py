"""Who may see what and do what: permission and blindness, decided here and nowhere else (DESIGN §6).

Three questions, three functions. `visible(user, queryset)`: which rows. `sight(user, trajectory)`: which
fields of a trajectory. `require(actor, verb, obj)`: which deeds. Everything fails closed: a model or verb
that is not listed is refused.

One rule stands above the roles: a person with an unsubmitted assignment of their own on a trajectory sees it
as an annotator, whatever else they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from annotation import models as m
from annotation.core.errors import Denied
from annotation.core.vocabulary import (
    AdjudicationState,
    AssignmentState,
    Role,
    SuggestionPolicy,
    TrajectoryState,
)


class Operator:
    """The person at the command line: may do everything, and is written into the audit log as the
    operator."""

    pk = None
    is_authenticated = True
    is_superuser = True

    def __str__(self) -> str:
        return "operator"


OPERATOR = Operator()
Actor = m.User | Operator
Viewer = m.User | Operator | AnonymousUser
M = TypeVar("M", bound=Model)

ROLE_FIELDS = {Role.ANNOTATOR: "is_annotator", Role.ADJUDICATOR: "is_adjudicator", Role.ADMIN: "is_admin"}


def recorded(actor: Actor) -> m.User | None:
    """The actor as the audit log stores it: a user, or null for the operator."""
    return actor if isinstance(actor, m.User) else None


def roles(user: Viewer, project: m.Project) -> frozenset[Role]:
    """The roles a person holds in a project; superusers administer every project. One query."""
    held: set[Role] = {Role.ADMIN} if getattr(user, "is_superuser", False) else set()
    if isinstance(user, m.User):
        membership = m.Membership.objects.filter(project=project, user=user).first()
        if membership is not None:
            held.update(membership.roles)
    return frozenset(held)


def _projects(user: m.User, *wanted: Role) -> QuerySet[m.Membership, dict[str, int]]:
    """The ids of the projects in which a person holds one of these roles (any, when none is named)."""
    condition = Q()
    for role in wanted:
        condition |= Q(**{ROLE_FIELDS[role]: True})
    held: QuerySet[m.Membership, dict[str, int]] = m.Membership.objects.filter(condition, user=user).values(
        "project"
    )  # type: ignore[assignment]
    return held


def _own_open(user: m.User, trajectory: str) -> Exists:
    """Whether the viewer has an unsubmitted assignment on the trajectory that `trajectory` refers to."""
    return Exists(
        m.Assignment.objects.filter(
            trajectory=OuterRef(trajectory), annotator=user, state=AssignmentState.OPEN
        )
    )


def _trajectories(user: m.User) -> Q:
    """Admins: all. Annotators: those they are or were working on. Adjudicators: disputes they did not
    label."""
    mine = m.Assignment.objects.filter(trajectory=OuterRef("pk"), annotator=user).exclude(
        state__in=(AssignmentState.RETURNED, AssignmentState.EXPIRED)
    )
    labelled = m.Assignment.objects.filter(trajectory=OuterRef("pk"), annotator=user)
    settled = (TrajectoryState.DISPUTED, TrajectoryState.ADJUDICATED)
    return (
        Q(project__in=_projects(user, Role.ADMIN))
        | Q(Exists(mine), project__in=_projects(user, Role.ANNOTATOR))
        | Q(~Exists(labelled), project__in=_projects(user, Role.ADJUDICATOR), state__in=settled)
    )


def _judgements(user: m.User) -> Q:
    """Labels and outcomes: one's own; an adjudicator's own cases; all for admins, who are not labelling
    it."""
    case = m.Adjudication.objects.filter(
        trajectory=OuterRef("assignment__trajectory"), adjudicator=user
    ).exclude(state=AdjudicationState.RELEASED)
    submitted = Q(assignment__state=AssignmentState.SUBMITTED)
    return Q(assignment__annotator=user) | (
        ~Q(_own_open(user, "assignment__trajectory"))
        & (
            Q(assignment__project__in=_projects(user, Role.ADMIN))
            | (Q(Exists(case), assignment__project__in=_projects(user, Role.ADJUDICATOR)) & submitted)
        )
    )


def _consensus(user: m.User) -> Q:
    """Resolved labels: admins, and adjudicators for the cases they decided; never while labelling the
    trajectory."""
    case = m.Adjudication.objects.filter(
        trajectory=OuterRef("trajectory"), adjudicator=user, state=AdjudicationState.DECIDED
    )
    return ~Q(_own_open(user, "trajectory")) & (
        Q(trajectory__project__in=_projects(user, Role.ADMIN)) | Q(Exists(case))
    )


def _member(path: str, *wanted: Role) -> Callable[[m.User], Q]:
    return lambda user: Q(**{f"{path}__in": _projects(user, *wanted)})


def _own(path: str) -> Callable[[m.User], Q]:
    return lambda user: Q(**{path: user.pk})


def _own_or_admin(own: str, project: str) -> Callable[[m.User], Q]:
    return lambda user: Q(**{own: user.pk}) | Q(**{f"{project}__in": _projects(user, Role.ADMIN)})


def _people(user: m.User) -> Q:
    """Oneself, and the members of the projects one administers."""
    return Q(pk=user.pk) | Q(
        Exists(m.Membership.objects.filter(user=OuterRef("pk"), project__in=_projects(user, Role.ADMIN)))
    )


def _assignments(user: m.User) -> Q:
    return Q(annotator=user.pk) | (
        ~Q(_own_open(user, "trajectory")) & Q(project__in=_projects(user, Role.ADMIN))
    )


def _suggestions(path: str) -> Callable[[m.User], Q]:
    """Admins only, and not those of a trajectory they are labelling; annotators see them through `sight`."""

    def condition(user: m.User) -> Q:
        return ~Q(_own_open(user, f"{path}trajectory")) & Q(
            **{f"{path}trajectory__project__in": _projects(user, Role.ADMIN)}
        )

    return condition


_releases = (Role.ADMIN, Role.ADJUDICATOR)

VISIBLE: dict[type[Model], Callable[[m.User], Q]] = {
    m.User: _people,
    m.ApiToken: _own("user"),
    m.Invitation: _member("project", Role.ADMIN),
    m.Project: _member("pk"),
    m.Guideline: _member("project"),
    m.Membership: _own_or_admin("user", "project"),
    m.Subset: _member("project"),
    m.ImportFile: _member("project", Role.ADMIN),
    m.Trajectory: _trajectories,
    m.Assignment: _assignments,
    m.Label: _judgements,
    m.OutcomeLabel: _judgements,
    m.LabelEvent: _judgements,
    m.Exposure: _own_or_admin("user", "trajectory__project"),
    m.Judge: _member("project", Role.ADMIN),
    m.Suggestion: _suggestions(""),
    m.SuggestedLabel: _suggestions("suggestion__"),
    m.Consensus: _consensus,
    m.OutcomeConsensus: _consensus,
    m.Adjudication: _own_or_admin("adjudicator", "project"),
    m.Release: _member("project", *_releases),
    m.ReleaseRecord: _member("release__project", *_releases),
    m.ReleaseLabel: _member("release__project", *_releases),
    m.ReleaseWithdrawal: _member("release__project", *_releases),
    m.AuditEvent: _member("project", Role.ADMIN),
}

# What even a superuser sees through a condition: their own secrets, and blindness while they label.
BLIND_FOR_ALL: dict[type[Model], str] = {
    m.Assignment: "trajectory",
    m.Label: "assignment__trajectory",
    m.OutcomeLabel: "assignment__trajectory",
    m.LabelEvent: "assignment__trajectory",
    m.Suggestion: "trajectory",
    m.SuggestedLabel: "suggestion__trajectory",
    m.Consensus: "trajectory",
    m.OutcomeConsensus: "trajectory",
}
OWNER: dict[type[Model], str] = {
    m.Assignment: "annotator",
    m.Label: "assignment__annotator",
    m.OutcomeLabel: "assignment__annotator",
    m.LabelEvent: "assignment__annotator",
}


def visible(user: Viewer, queryset: QuerySet[M]) -> QuerySet[M]:
    """The rows of a queryset that a person may know of; trajectories that are not live are nobody's.

    Raises LookupError for a model without a rule: nothing is visible by default.
    """
    model = queryset.model
    if model not in VISIBLE:
        raise LookupError(f"no visibility rule for {model.__name__}")
    if model is m.Trajectory:
        queryset = queryset.filter(live=True)
    if isinstance(user, Operator):
        return queryset
    if not isinstance(user, m.User) or not user.is_active:
        return queryset.none()
    if not user.is_superuser or model is m.ApiToken:
        return queryset.filter(VISIBLE[model](user))
    if model in BLIND_FOR_ALL:
        condition = ~Q(_own_open(user, BLIND_FOR_ALL[model]))
        if model in OWNER:
            condition |= Q(**{OWNER[model]: user.pk})
        return queryset.filter(condition)
    return queryset


@dataclass(frozen=True, slots=True)
class Sight:
    """Which parts of one trajectory a person may see.

    `mode` is whose eyes they see it with: "annotator", "adjudicator", "admin" or "none". `names`: whether
    others' labels come with names, or only as "A" and "B". `suggestions`: the policy in force for an
    annotator, or "all".
    """

    mode: str
    own_labels: bool = False
    others_labels: bool = False
    names: bool = False
    consensus: bool = False
    suggestions: str = SuggestionPolicy.NEVER.value
    reference_answer: bool = False
    reward_hints: bool = False
    raw: bool = False


NO_SIGHT = Sight(mode="none")
_ADMIN_SIGHT = Sight(
    mode="admin",
    own_labels=True,
    others_labels=True,
    names=True,
    consensus=True,
    suggestions="all",
    reference_answer=True,
    reward_hints=True,
    raw=True,
)


def sight(user: Viewer, trajectory: m.Trajectory) -> Sight:
    """What a person may see of a trajectory. At most three queries."""
    if isinstance(user, Operator):
        return _ADMIN_SIGHT
    if not isinstance(user, m.User) or not user.is_active:
        return NO_SIGHT
    project = trajectory.project
    held = roles(user, project)
    own = m.Assignment.objects.filter(trajectory=trajectory, annotator=user).first()
    as_annotator = Sight(
        mode="annotator",
        own_labels=True,
        suggestions=project.suggestion_policy,
        reference_answer=project.show_reference_answer,
        reward_hints=project.show_reward_hints,
    )
    if own is not None and own.state == AssignmentState.OPEN:
        return as_annotator if held else NO_SIGHT
    if Role.ADMIN in held:
        return _ADMIN_SIGHT
    if Role.ADJUDICATOR in held and own is None:
        case = m.Adjudication.objects.filter(trajectory=trajectory, adjudicator=user)
        if case.exclude(state=AdjudicationState.RELEASED).exists():
            decided = trajectory.state == TrajectoryState.ADJUDICATED
            return Sight(
                mode="adjudicator",
                others_labels=True,
                consensus=decided,
                suggestions=SuggestionPolicy.AFTER_LABEL.value,
                reference_answer=True,
                reward_hints=True,
            )
    if own is not None and own.state == AssignmentState.SUBMITTED and held:
        return as_annotator
    return NO_SIGHT


# verb -> the roles of the object's project of which one is needed
VERBS: dict[str, tuple[Role, ...]] = {
    "project.view": (Role.ANNOTATOR, Role.ADJUDICATOR, Role.ADMIN),
    "project.change": (Role.ADMIN,),
    "members.change": (Role.ADMIN,),
    "import": (Role.ADMIN,),
    "assign": (Role.ADMIN,),
    "claim": (Role.ANNOTATOR,),
    "label": (Role.ANNOTATOR,),
    "agreement.view": (Role.ADJUDICATOR, Role.ADMIN),
    "progress.view": (Role.ADMIN,),
    "trajectory.list": (Role.ADMIN,),
    "adjudicate": (Role.ADJUDICATOR,),
    "release.view": _releases,
    "release.freeze": (Role.ADMIN,),
    "release.withdraw": (Role.ADMIN,),
    "audit.view": (Role.ADMIN,),
}
ANYBODY_VERBS = frozenset({"account.change", "token.change"})
SUPERUSER_VERBS = frozenset({"project.create", "account.create"})
OWN_VERBS = frozenset({"label"})


def _project_of(obj: Any) -> m.Project:
    return obj if isinstance(obj, m.Project) else obj.project


def allowed(actor: Viewer, verb: str, obj: Any = None) -> bool:
    """Whether an actor may do a deed. `obj` is a project or has one; for account verbs, the user concerned.

    Labelling belongs to the assignment's own annotator, adjudicating to the case's own adjudicator; not even
    an operator does these in somebody's name (imports of finished labels have a verb of their own, "import").
    """
    if isinstance(actor, Operator):
        return verb not in ("label", "claim", "adjudicate") and (
            verb in VERBS or verb in ANYBODY_VERBS or verb in SUPERUSER_VERBS
        )
    if not isinstance(actor, m.User) or not actor.is_active:
        return False
    if verb in SUPERUSER_VERBS:
        return actor.is_superuser
    if verb in ANYBODY_VERBS:
        return obj is not None and (actor.is_superuser or obj.pk == actor.pk)
    if verb not in VERBS or obj is None:
        return False
    if not roles(actor, _project_of(obj)) & set(VERBS[verb]):
        return False
    if isinstance(obj, m.Assignment) and verb == "label":
        return obj.annotator_id == actor.pk
    if isinstance(obj, m.Adjudication) and verb == "adjudicate":
        return obj.adjudicator_id == actor.pk
    return True


def require(actor: Viewer, verb: str, obj: Any = None) -> None:
    """Raise Denied unless `allowed`."""
    if not allowed(actor, verb, obj):
        raise Denied(f"You are not allowed to do this ({verb}).")
