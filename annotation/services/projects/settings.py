"""A project's settings, guidelines and subsets."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import get_language

from annotation import dispatch
from annotation.core.errors import Invalid, Locked, StaleVersion
from annotation.core.guidelines import default_guideline
from annotation.core.i18n import translatable
from annotation.core.kinds import SETTINGS_NEED, STEPS, Feature, by_name, settings_of
from annotation.core.rechecks import sampling
from annotation.core.vocabulary import UNSEEN_POLICIES, QueueTurn, SecondReader, TrajectoryState
from annotation.models import Assignment, Guideline, Membership, Project, Subset, Trajectory, User
from annotation.policies import Actor, recorded, require

from .. import audit
from ..cursors import lower_cursors
from ..transitions import CHANGED_MEANWHILE, require_version

SETTINGS = frozenset(Project.EDITED)
PEOPLE_BESIDE_JUDGES = 2
NO_CURRENCY = translatable("Say in which currency people are paid.")
FIXED = translatable("The kind of a project is fixed when it is created.")


def _clean(project: Project) -> None:
    try:
        # no maker: the operator made it
        project.full_clean(exclude=["created_by"], validate_unique=False, validate_constraints=False)
    except ValidationError as error:
        raise Invalid(
            translatable("The project could not be saved; check the fields."),
            fields={name: " ".join(messages) for name, messages in error.message_dict.items()},
        ) from error
    _check_kind(project)
    _check_second_reader(project)
    _check_judges_first(project)
    if project.pay_rate is not None and not project.pay_currency:
        raise Invalid(NO_CURRENCY, fields={"pay_currency": NO_CURRENCY})


def _check_kind(project: Project) -> None:
    """Raises Invalid where a setting is switched on that projects of this kind do not have."""
    kind = project.of_kind
    has = settings_of(kind, SETTINGS_NEED)
    fields = {
        name: kind.lacks[needs]
        for name, needs in SETTINGS_NEED.items()
        if name not in has and getattr(project, name) != getattr(Project(), name)
    }
    if fields:
        raise Invalid(next(iter(fields.values())), fields=fields)


NOT_BLIND = translatable(
    "Judges can be the second reader only of people who have not seen what they say: let annotators see "
    "suggestions after submitting, or never."
)
NOT_TWO = translatable("Judges can be the second reader only where two people label each trajectory.")
IN_AN_EXPERIMENT = translatable(
    "Judges cannot be the second reader while the project randomises when annotators see suggestions."
)


def _check_second_reader(project: Project) -> None:
    """Raises Invalid where judges cannot be the second reader."""
    if project.second_reader != SecondReader.JUDGES:
        return
    fields = {}
    if project.annotators_per_trajectory != PEOPLE_BESIDE_JUDGES:
        fields["annotators_per_trajectory"] = NOT_TWO
    if project.suggestion_policy not in UNSEEN_POLICIES:
        fields["suggestion_policy"] = NOT_BLIND
    if project.experiment_seed is not None:
        fields["second_reader"] = IN_AN_EXPERIMENT
    if fields:
        raise Invalid(next(iter(fields.values())), fields=fields)


NOT_BLIND_FIRST = translatable(
    "Judges can be asked first only where people do not see what they say: let annotators see suggestions "
    "after submitting, or never."
)
EITHER = translatable("Judges are asked first, or are the second reader, but not both.")
FIRST_IN_AN_EXPERIMENT = translatable(
    "Judges cannot be asked first while the project randomises when annotators see suggestions."
)


FIRST_IN_TRIAGE = translatable(
    "Judges cannot be asked first while the queue has contested trajectories first: its order would tell "
    "what they agreed on. Shuffle it again."
)


def _check_judges_first(project: Project) -> None:
    """Raises Invalid where judges cannot be asked first."""
    if not project.judges_first:
        return
    fields = {}
    if project.second_reader == SecondReader.JUDGES:
        fields["judges_first"] = EITHER
    if project.suggestion_policy not in UNSEEN_POLICIES:
        fields["suggestion_policy"] = NOT_BLIND_FIRST
    if project.experiment_seed is not None:
        fields["judges_first"] = FIRST_IN_AN_EXPERIMENT
    if project.triage_seed is not None:
        fields["judges_first"] = FIRST_IN_TRIAGE
    if fields:
        raise Invalid(next(iter(fields.values())), fields=fields)


@transaction.atomic
def create_project(
    *,
    actor: Actor,
    name: str,
    slug: str = "",
    kind: str = STEPS.name,
    guidelines: str | None = None,
    **settings: Any,
) -> Project:
    """Start a project of a kind, which it keeps; its maker becomes an admin member.

    Without `guidelines` it starts with the default ones of its kind, in its maker's language: that of their
    profile, else the one they are reading in.

    Raises Invalid when the slug is taken or a value is wrong.
    """
    require(actor, "project.create")
    declared = by_name(kind)
    unknown = set(settings) - SETTINGS
    if unknown:
        raise Invalid(
            translatable("Unknown settings."),
            fields=dict.fromkeys(sorted(unknown), translatable("Unknown setting.")),
        )
    now = timezone.now()
    project = Project(
        name=name.strip(),
        slug=slug.strip() or slugify(name)[:64],
        kind=declared.name,
        created_by=recorded(actor),
        created_at=now,
        **settings,
    )
    _clean(project)
    try:
        with transaction.atomic():
            project.save(force_insert=True)
    except IntegrityError as error:
        raise Invalid(
            translatable("This slug is taken."),
            fields={"slug": translatable("This slug is taken; choose another.")},
        ) from error
    if guidelines is None:
        language = actor.language if isinstance(actor, User) else ""
        guidelines = default_guideline(language or get_language() or "", declared)
    Guideline.objects.create(
        project=project, version=1, text=guidelines, created_by=recorded(actor), created_at=now
    )
    if isinstance(actor, User):
        Membership.objects.create(project=project, user=actor, is_admin=True, created_at=now)
    audit.record(actor=actor, verb="project.create", project=project, obj=project, slug=project.slug)
    return project


@transaction.atomic
def update_project(
    *, actor: Actor, project: Project, values: Mapping[str, Any], version: str | None = None
) -> Project:
    """Change settings. N is locked after the first claim; the free slots of every trajectory follow it
    before. Raises StaleVersion when they are no longer at the `version` that the actor began from."""
    require(actor, "project.change", project)
    if "kind" in values:
        raise Invalid(FIXED, fields={"kind": FIXED})
    unknown = set(values) - SETTINGS
    if unknown:
        raise Invalid(
            translatable("Unknown settings."),
            fields=dict.fromkeys(sorted(unknown), translatable("Unknown setting.")),
        )
    current = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    require_version(current, version, values)
    before = {key: getattr(current, key) for key in values}
    for key, value in values.items():
        setattr(current, key, value)
    _clean(current)
    per_trajectory = current.annotators_per_trajectory
    if per_trajectory != before.get("annotators_per_trajectory", per_trajectory):
        # Update first, look afterwards: a claim that is under way holds its trajectory's row, so that either
        # this update waits for it and then sees its assignment, or it waits for this and then counts from the
        # new N.
        # what judges have settled has no place
        places = Trajectory.objects.filter(project=current).exclude(state=TrajectoryState.JUDGED)
        if places.filter(reserved__gt=per_trajectory).exists():
            raise Locked(
                translatable(
                    "A trajectory is assigned to more people than that; withdraw some of these first."
                ),
                code="annotators_assigned",
            )
        places.update(free_slots=per_trajectory)
        if Assignment.objects.filter(project=current).exists():
            raise Locked(
                translatable(
                    "The number of annotators is locked: somebody has already claimed a trajectory."
                ),
                code="annotators_locked",
            )
    current.save(update_fields=sorted(values))
    if before.get("second_reader", current.second_reader) != current.second_reader:
        dispatch.send("second_person", current.pk)
    if before.get("judges_first", current.judges_first) != current.judges_first:
        # what was kept back may stand before what people have claimed
        lower_cursors(project_id=current.pk, position=0)
    changed = sorted(key for key in values if before[key] != values[key])
    if changed:
        audit.record(actor=actor, verb="project.change", project=current, obj=current, fields=changed)
    return current


@transaction.atomic
def close_checklist(*, actor: Actor, project: Project) -> None:
    """Show the list of first steps no more; repeating it changes nothing."""
    require(actor, "project.change", project)
    if Project.objects.filter(pk=project.pk, checklist_closed=False).update(checklist_closed=True):
        audit.record(actor=actor, verb="project.close_checklist", project=project, obj=project)


@transaction.atomic
def write_guidelines(*, actor: Actor, project: Project, text: str, based_on: int | None = None) -> Guideline:
    """Put a new version of the guidelines in force; the same text again makes no version.

    `based_on` is the version whose text the actor changed, 0 for none. Raises StaleVersion when another one
    is in force by now, whose text the details hold.
    """
    require(actor, "project.change", project)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    newest = Guideline.objects.filter(project=project).order_by("-version").first()
    if newest is not None and newest.text == text:
        return newest
    if newest is not None and based_on not in (None, newest.version):
        raise StaleVersion(CHANGED_MEANWHILE, details={"version": newest.version, "text": newest.text})
    guideline = Guideline.objects.create(
        project=project,
        version=newest.version + 1 if newest else 1,
        text=text,
        created_by=recorded(actor),
        created_at=timezone.now(),
    )
    audit.record(
        actor=actor, verb="guidelines.write", project=project, obj=guideline, version=guideline.version
    )
    return guideline


def read_guidelines(*, actor: User, guideline: Guideline) -> None:
    """Remember that a member has read a version of the guidelines; that they have read a newer one stays.

    It is about nobody but themselves, so that the audit log has nothing of it.
    """
    require(actor, "project.view", guideline)
    Membership.objects.filter(
        project=guideline.project_id, user=actor, guideline_seen__lt=guideline.version
    ).update(guideline_seen=guideline.version)


@transaction.atomic
def ensure_subset(
    *, actor: Actor, project: Project, name: str, suspend_on_user_turn: bool | None = None
) -> Subset:
    """The subset of that name, made when missing. Raises Invalid when the name is not a slug."""
    require(actor, "import", project)
    if suspend_on_user_turn:
        project.of_kind.require(Feature.PROPAGATION)
    subset = Subset(project=project, name=name.strip(), created_at=timezone.now())
    try:
        subset.clean_fields()
    except ValidationError as error:
        reason = translatable(
            "Use letters, digits, hyphens and underscores for a subset's name (at most 64)."
        )
        raise Invalid(reason, fields={"subset": reason}) from error
    subset, made = Subset.objects.get_or_create(
        project=project, name=subset.name, defaults={"created_at": subset.created_at}
    )
    if made:
        audit.record(actor=actor, verb="subset.create", project=project, obj=subset, name=subset.name)
    if suspend_on_user_turn is not None and subset.suspend_on_user_turn != suspend_on_user_turn:
        return update_subset(actor=actor, subset=subset, suspend_on_user_turn=suspend_on_user_turn)
    return subset


UNKNOWN_TURN = translatable("A subset comes first, as others do (normal), or last.")


@transaction.atomic
def update_subset(
    *,
    actor: Actor,
    subset: Subset,
    suspend_on_user_turn: bool | None = None,
    turn: str | None = None,
    version: str | None = None,
) -> Subset:
    """Change how the propagation rule treats user messages in a subset, and its turn in the queue (None: it
    stays). Raises Invalid for an unknown turn, StaleVersion when it is no longer at the `version` that the
    actor began from."""
    require(actor, "project.change", subset)
    if suspend_on_user_turn:
        subset.project.of_kind.require(Feature.PROPAGATION)
    current = Subset.objects.select_for_update(no_key=True).get(pk=subset.pk)
    given = {"suspend_on_user_turn": suspend_on_user_turn, "turn": turn}
    values = {name: value for name, value in given.items() if value is not None}
    if turn is not None and turn not in set(QueueTurn):
        raise Invalid(UNKNOWN_TURN, fields={"turn": UNKNOWN_TURN})
    require_version(current, version, values)
    changed = {name: value for name, value in values.items() if getattr(current, name) != value}
    if changed:
        for name, value in changed.items():
            setattr(current, name, value)
        current.save(update_fields=sorted(changed))
        audit.record(actor=actor, verb="subset.change", project=subset.project, obj=current, **changed)
    if "turn" in changed:
        rows = Trajectory.objects.filter(subset=current)
        rows.update(position=F("position") % sampling.PLACES + sampling.level(QueueTurn(current.turn)))
        lower_cursors(project_id=current.project_id, position=0)
    return current
