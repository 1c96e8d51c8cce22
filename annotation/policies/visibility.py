"""Permission to see rows: one condition per model; a model without one is seen by nobody."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL

from annotation import models as m
from annotation.core.vocabulary import (
    NO_LONGER_BLIND,
    AdjudicationState,
    AssignmentState,
    Role,
    TrajectoryState,
)

from .corrections import has_own
from .deciding import barred
from .examples import readable
from .label_audits import own_case
from .people import RESULT_ROLES, ROLE_FIELDS, M, Operator, Viewer


@cache
def _held_in(roles: tuple[Role, ...]) -> str:
    """The query for the ids of the projects in which somebody holds one of these roles."""
    held = " OR ".join(ROLE_FIELDS[role] for role in roles)
    return f"SELECT project_id FROM {m.Membership._meta.db_table} WHERE user_id = %s" + (
        f" AND ({held})" if held else ""
    )


def _projects(user: m.User, *roles: Role) -> RawSQL:
    """The ids of the projects in which a person holds one of these roles (any, when none is named).

    Written, for nearly every condition asks it, and composing it took Django longer than all else in one.
    """
    return RawSQL(_held_in(roles), (user.pk,))


def _own_open(user: m.User, trajectory: str) -> Exists:
    """Whether the viewer has an unsubmitted assignment on the trajectory that `trajectory` refers to."""
    return Exists(
        m.Assignment.stored.filter(
            trajectory=OuterRef(trajectory), annotator=user, state=AssignmentState.OPEN
        )
    )


def _given(user: Viewer) -> Q:
    """The condition on trajectories that a person has been given and has not returned."""
    pk = user.pk if isinstance(user, m.User) else None
    mine = m.Assignment.stored.filter(trajectory=OuterRef("pk"), annotator=pk)
    return Q(Exists(mine.exclude(state__in=(AssignmentState.RETURNED, AssignmentState.EXPIRED))))


def _trajectories(user: m.User) -> Q:
    """Admins: all. Annotators: those they are or were working on. Adjudicators: disputes that they may
    decide, and their cases of audits. All: those whose first error they correct."""
    settled = (TrajectoryState.DISPUTED, TrajectoryState.ADJUDICATED)
    audited = own_case(user).filter(trajectory=OuterRef("pk"))
    return (
        Q(project__in=_projects(user, Role.ADMIN))
        | Q(_given(user), project__in=_projects(user, Role.ANNOTATOR))
        | Q(~barred(user, "pk"), project__in=_projects(user, Role.ADJUDICATOR), state__in=settled)
        | Q(Exists(audited), project__in=_projects(user, Role.ADJUDICATOR))
        | Q(has_own(user, "pk"), project__in=_projects(user))
    )


def _disputes(user: m.User) -> Q:
    """Disputes visible to a person: to admins, where they are not labelling; to adjudicators, where they may
    decide."""
    return Q(~Q(_own_open(user, "trajectory")), project__in=_projects(user, Role.ADMIN)) | Q(
        ~barred(user, "trajectory"), project__in=_projects(user, Role.ADJUDICATOR)
    )


def _adjudications(user: m.User) -> Q:
    """One's own cases; all for admins, but those of what they are labelling."""
    return Q(adjudicator=user.pk) | Q(
        ~Q(_own_open(user, "trajectory")), project__in=_projects(user, Role.ADMIN)
    )


def _judgements(user: m.User) -> Q:
    """Labels and outcomes: one's own; an adjudicator's own cases; all for admins, who are not labelling it.
    Of rechecks nobody sees any but their own."""
    case = m.Adjudication.objects.filter(
        trajectory=OuterRef("assignment__trajectory"), adjudicator=user
    ).exclude(state=AdjudicationState.RELEASED)
    submitted = Q(assignment__state=AssignmentState.SUBMITTED)
    return Q(assignment__annotator=user) | (
        Q(assignment__recheck__isnull=True)
        & ~Q(_own_open(user, "assignment__trajectory"))
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


def _discussed(trajectory: str) -> Callable[[m.User], Q]:
    """Discussions and what is in them: admins; the annotators whose labels it is about; the adjudicator who
    has the case."""

    def condition(user: m.User) -> Q:
        labelled = m.Assignment.objects.filter(
            trajectory=OuterRef(trajectory), annotator=user, state=AssignmentState.SUBMITTED
        )
        case = m.Adjudication.objects.filter(trajectory=OuterRef(trajectory), adjudicator=user).exclude(
            state=AdjudicationState.RELEASED
        )
        project = f"{trajectory}__project__in"
        return ~Q(_own_open(user, trajectory)) & (
            Q(**{project: _projects(user, Role.ADMIN)})
            | (Q(Exists(labelled)) & Q(**{project: _projects(user, Role.ANNOTATOR)}))
            | (Q(Exists(case)) & Q(**{project: _projects(user, Role.ADJUDICATOR)}))
        )

    return condition


def _member(path: str, *roles: Role) -> Callable[[m.User], Q]:
    return lambda user: Q(**{f"{path}__in": _projects(user, *roles)})


def _claimable(user: m.User, trajectory: str) -> Q:
    """Whether the viewer could still claim the trajectory that `trajectory` refers to, or has just labelled
    it."""
    seen = m.Exposure.objects.filter(trajectory=OuterRef(trajectory), user=user, kind__in=NO_LONGER_BLIND)
    annotates = {f"{trajectory}__project__in": _projects(user, Role.ANNOTATOR)}
    return Q(~Exists(seen), **annotates, **{f"{trajectory}__state": TrajectoryState.LABELLING})


def _trajectory_tags(user: m.User) -> Q:
    """Tags on trajectories: for admins their own, and those of trajectories that they neither are labelling
    nor could still claim; for adjudicators those of disputes that they may decide."""
    mine, labelling = Q(added_by=user.pk), Q(_own_open(user, "trajectory"))
    of_admins = Q() if user.is_superuser else Q(tag__project__in=_projects(user, Role.ADMIN))
    settled = (TrajectoryState.DISPUTED, TrajectoryState.ADJUDICATED)
    of_adjudicators = Q(
        ~barred(user, "trajectory"),
        tag__project__in=_projects(user, Role.ADJUDICATOR),
        trajectory__state__in=settled,
    )
    return (of_admins & (mine | (~labelling & ~_claimable(user, "trajectory")))) | of_adjudicators


def _remarks(user: m.User) -> Q:
    """Remarks: their author's, unless they label the trajectory once more; and for admins those of
    trajectories that they neither are labelling nor could still claim."""
    labelling = Q(_own_open(user, "assignment__trajectory"))
    claimable = _claimable(user, "assignment__trajectory")
    of_admins = Q() if user.is_superuser else Q(project__in=_projects(user, Role.ADMIN))
    mine = Q(assignment__annotator=user.pk) & (Q(assignment__state=AssignmentState.OPEN) | ~labelling)
    return mine | (~labelling & ~claimable & of_admins)


def _corrections(user: m.User) -> Q:
    """Corrections of people: one's own, and for admins all, never while they are labelling the trajectory.
    What judges propose is shown by services/correct alone."""
    people = Q(~Q(_own_open(user, "trajectory")), author__isnull=False)
    if user.is_superuser:
        return people
    mine = Q(author=user.pk, project__in=_projects(user))
    return people & (mine | Q(project__in=_projects(user, Role.ADMIN)))


def _examples(user: m.User) -> Q:
    """Examples of the projects one is a member of, where they tell nothing that one must not know."""
    return readable(user) if user.is_superuser else Q(project__in=_projects(user)) & readable(user)


def _saved_views(user: m.User) -> Q:
    """Saved views: one's own, and for admins those of the whole project."""
    of_admins = Q() if user.is_superuser else Q(project__in=_projects(user, Role.ADMIN))
    return Q(owner=user.pk) | (Q(owner__isnull=True) & of_admins)


def _audited(user: m.User) -> Q:
    """One's cases of audits, while they are one's own to decide."""
    return Q(pk__in=own_case(user).values("pk"), audit__project__in=_projects(user, Role.ADJUDICATOR))


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
    """Admins only, and not those of a trajectory they are labelling; annotators use `field_access`."""

    def condition(user: m.User) -> Q:
        return ~Q(_own_open(user, f"{path}trajectory")) & Q(
            **{f"{path}trajectory__project__in": _projects(user, Role.ADMIN)}
        )

    return condition


def _deliveries(user: m.User) -> Q:
    """For admins, without the events of a trajectory they are labelling: they tell of others' labels."""
    return ~Q(_own_open(user, "trajectory")) & Q(webhook__project__in=_projects(user, Role.ADMIN))


VISIBLE: dict[type[Model], Callable[[m.User], Q]] = {
    m.User: _people,
    m.ApiToken: _own("user"),
    m.Invitation: _member("project", Role.ADMIN),
    m.Project: _member("pk"),
    m.Guideline: _member("project"),
    m.Membership: _own_or_admin("user", "project"),
    m.CrowdLink: _member("project", Role.ADMIN),
    m.Webhook: _member("project", Role.ADMIN),
    m.WebhookDelivery: _deliveries,
    m.CrowdPlace: _own_or_admin("user", "link__project"),
    m.Qualification: _member("membership__project", Role.ADMIN),
    m.Quota: _own_or_admin("membership__user", "membership__project"),
    m.DaysAway: _own_or_admin("membership__user", "membership__project"),
    m.Subset: _member("project"),
    m.ImportFile: _member("project", Role.ADMIN),
    m.Connection: _member("project", Role.ADMIN),
    m.Transfer: _member("project", Role.ADMIN),
    m.Trajectory: _trajectories,
    m.Dispute: _disputes,
    m.Assignment: _assignments,
    m.ActiveTime: _own_or_admin("annotator", "project"),
    m.Label: _judgements,
    m.OutcomeLabel: _judgements,
    m.LabelEvent: _judgements,
    m.Exposure: _own_or_admin("user", "trajectory__project"),
    m.Judge: _member("project", Role.ADMIN),
    m.WorkshopSample: _member("judge__project", Role.ADMIN),
    m.Suggestion: _suggestions(""),
    m.SuggestedLabel: _suggestions("suggestion__"),
    m.SuggestionRun: _member("project", Role.ADMIN),
    m.SuggestionItem: _member("run__project", Role.ADMIN),
    m.JudgeAnswer: _suggestions(""),
    m.Consensus: _consensus,
    m.OutcomeConsensus: _consensus,
    m.Adjudication: _adjudications,
    m.LabelAudit: _member("project", Role.ADMIN),
    m.AuditedTrajectory: _audited,
    m.Discussion: _discussed("trajectory"),
    m.Comment: _discussed("discussion__trajectory"),
    m.Revision: _discussed("assignment__trajectory"),
    m.Notice: _own("user"),
    m.AdminRemark: _remarks,
    m.Correction: _corrections,
    m.SavedView: _saved_views,
    m.Tag: _member("project", Role.ADMIN),
    m.Reservation: _member("project", Role.ADMIN),
    m.TrajectoryTag: _trajectory_tags,
    m.Example: _examples,
    m.Release: _member("project", *RESULT_ROLES),
    m.Freeze: _member("project", Role.ADMIN),
    m.ReleaseRecord: _member("release__project", *RESULT_ROLES),
    m.ReleaseLabel: _member("release__project", *RESULT_ROLES),
    m.ReleaseWithdrawal: _member("release__project", *RESULT_ROLES),
    m.PublicRelease: _member("release__project", *RESULT_ROLES),
    m.PredictionSet: _member("release__project", *RESULT_ROLES),
    m.PromptSet: _member("release__project", *RESULT_ROLES),
    m.KeyLabel: _member("trajectory__project", Role.ADMIN),
    m.TutorialItem: _member("project", Role.ADMIN),
    m.ProficiencyTest: _member("project", Role.ADMIN),
    m.TestItem: _member("test__project", Role.ADMIN),
    m.TestAttempt: _own_or_admin("annotator", "test__project"),
    m.Pilot: _member("project", Role.ADMIN),
    m.OutsideNumber: _member("release__project", *RESULT_ROLES),
    m.AuditEvent: _member("project", Role.ADMIN),
}

# What even a superuser sees through a condition: their own secrets, and blindness while they label.
BLIND_FOR_ALL: dict[type[Model], str] = {
    m.Dispute: "trajectory",
    m.Adjudication: "trajectory",
    m.Assignment: "trajectory",
    m.Label: "assignment__trajectory",
    m.OutcomeLabel: "assignment__trajectory",
    m.LabelEvent: "assignment__trajectory",
    m.Suggestion: "trajectory",
    m.SuggestedLabel: "suggestion__trajectory",
    m.JudgeAnswer: "trajectory",
    m.Consensus: "trajectory",
    m.OutcomeConsensus: "trajectory",
    m.Discussion: "trajectory",
    m.Comment: "discussion__trajectory",
    m.Revision: "assignment__trajectory",
    m.WebhookDelivery: "trajectory",
}
# What even a superuser sees only as far as its condition goes.
PRIVATE = (
    *(m.ApiToken, m.Notice, m.Example, m.AdminRemark, m.SavedView, m.TrajectoryTag),
    *(m.AuditedTrajectory, m.Correction),
)
OWNER: dict[type[Model], str] = {
    m.Adjudication: "adjudicator",
    m.Assignment: "annotator",
    m.Label: "assignment__annotator",
    m.OutcomeLabel: "assignment__annotator",
    m.LabelEvent: "assignment__annotator",
}


def own(user: Viewer, queryset: QuerySet[M]) -> QuerySet[M]:
    """The rows of a queryset that are a person's own: never more than `visible`, and cheaper to ask for,
    which matters where every key press asks.

    Raises LookupError for a model whose rows have no owner.
    """
    if queryset.model not in OWNER:
        raise LookupError(f"{queryset.model.__name__} has no owner")
    if not isinstance(user, m.User) or not user.is_active:
        return queryset.none()
    return queryset.filter(**{OWNER[queryset.model]: user.pk})


def visible(user: Viewer, queryset: QuerySet[M]) -> QuerySet[M]:
    """The rows of a queryset that a person may know of; trajectories that are not live are nobody's, but for
    those of training that they have been given.

    Raises LookupError for a model without a rule: nothing is visible by default.
    """
    model = queryset.model
    if model not in VISIBLE:
        raise LookupError(f"no visibility rule for {model.__name__}")
    if model is m.Trajectory:
        queryset = queryset.filter(Q(live=True) | Q(training=True) & _given(user))
    if isinstance(user, Operator):
        return queryset
    if not isinstance(user, m.User) or not user.is_active:
        return queryset.none()
    if not user.is_superuser or model in PRIVATE:
        return queryset.filter(VISIBLE[model](user))
    if model in BLIND_FOR_ALL:
        condition = ~Q(_own_open(user, BLIND_FOR_ALL[model]))
        if model in OWNER:
            condition |= Q(**{OWNER[model]: user.pk})
        return queryset.filter(condition)
    return queryset
