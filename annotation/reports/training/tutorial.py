"""The tutorial: how far somebody is, and the feedback on what they have labelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.core import guidelines
from annotation.core.errors import NotFound
from annotation.core.i18n import translatable
from annotation.core.kinds import ProjectKind
from annotation.core.vocabulary import RecheckKind, RecheckState
from annotation.models import (
    Assignment,
    KeyLabel,
    Label,
    LabelEvent,
    Membership,
    OutcomeLabel,
    Project,
    Recheck,
    Step,
    Trajectory,
    TutorialItem,
    User,
)
from annotation.policies import require

from .keys import key_of

FEEDBACK = "feedback"
"""The kind of the event of an assignment that says when feedback on a label was first given."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """One step (`message_index`), or the outcome (None): the `first` label that feedback was given on, the
    key's `key`, and why it says so. `reason` is a code of the label scheme, "" for none; `note` is
    Markdown; `cases` are the rows of the default guidelines that say the same as the reason, in every
    language."""

    message_index: int | None
    first: int | None
    key: int
    reason: str
    note: str
    cases: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        """Whether that label was the key's."""
        return self.first == self.key

    @property
    def topic(self) -> str:
        """The section of the default guidelines that it refers to (core.guidelines.TOPICS)."""
        if self.message_index is None:
            return "outcome"
        return "propagation" if self.reason == "builds_on_error" else "cases"


@dataclass(frozen=True, slots=True)
class Progress:
    """The number of the tutorial's items that a person has done."""

    done: int
    total: int

    @property
    def at(self) -> int:
        """The number of the item they are at, from 1."""
        return min(self.done + 1, self.total)


def items(project: Project) -> QuerySet[TutorialItem]:
    """The items of a project's tutorial in their order. No query by itself."""
    return TutorialItem.objects.filter(project=project, trajectory__training=True).order_by("place")


def turns(user: User | int, project: Project | int) -> QuerySet[Recheck]:
    """A person's turns at the tutorial's items, those that are still in it. No query by itself."""
    return Recheck.objects.filter(
        annotator=user,
        project=project,
        kind=RecheckKind.TUTORIAL.value,
        trajectory__tutorial_item__isnull=False,
        trajectory__training=True,
    )


def progress(user: User, project: Project) -> Progress | None:
    """The progress of a person; None where they have no tutorial before them. Three queries."""
    behind = Membership.objects.filter(project=project, user=user, tutorial_done_at__isnull=True)
    total = items(project).count()
    if not total or not behind.exists():
        return None
    done = turns(user, project).filter(state=RecheckState.DONE.value).count()
    return Progress(done, total)


def feedback_given(*, actor: User, assignment: Assignment) -> list[Feedback]:
    """The feedback that somebody has been given on their item of the tutorial, step by step and the outcome
    last; nothing of what they have not asked. Raises Denied for somebody else's. Three queries."""
    require(actor, "label", assignment)
    given = {
        event.step_id: event.value
        for event in LabelEvent.stored.filter(assignment=assignment, kind=FEEDBACK).order_by("-pk")
    }
    if not given:
        return []
    return feedback_on(assignment, given)


def feedback_on(assignment: Assignment, given: dict[int | None, int | None]) -> list[Feedback]:
    """Feedback on steps (by pk; None: the outcome) with the labels that they had, in their order."""
    key, kind = key_of(assignment.trajectory), assignment.project.of_kind
    steps = Step.objects.filter(trajectory=assignment.trajectory_id).order_by("message_index")
    order = [*steps.values_list("pk", "message_index"), (None, None)]
    return [
        _feedback(index, given[pk], key[index], kind) for pk, index in order if pk in given and index in key
    ]


def _feedback(index: int | None, first: int | None, label: KeyLabel, kind: ProjectKind) -> Feedback:
    cases = guidelines.cases(kind, label.reason)
    return Feedback(index, first, label.value, label.reason, label.note, cases)


def stored_labels(assignment: Assignment) -> dict[int | None, tuple[int, int]]:
    """The stored labels of an assignment, (value, version) by step pk; None is the outcome."""
    rows: dict[int | None, tuple[int, int]] = {}
    labels = Label.stored.filter(assignment=assignment, value__isnull=False)
    for step, value, version in labels.values_list("step", "value", "version"):
        if value is not None:
            rows[step] = (value, version)
    outcome = OutcomeLabel.stored.filter(assignment=assignment, value__isnull=False).first()
    if outcome is not None and outcome.value is not None:
        rows[None] = (outcome.value, outcome.version)
    return rows


def choices(project: Project) -> QuerySet[Trajectory]:
    """The training trajectories that tutorial and tests can be made of, by subset and record; not the copies
    that are gold. No query by itself."""
    rows = Trajectory.objects.filter(project=project, training=True, subset__training=True)
    return rows.select_related("subset").order_by("subset__name", "record_id", "pk")


def chosen(project: Project, pks: Sequence[int]) -> list[Trajectory]:
    """Those of them by pk, in this order and as often. Raises NotFound when one is not among them."""
    by_pk = {row.pk: row for row in choices(project).filter(pk__in=pks)}
    if any(pk not in by_pk for pk in pks):
        raise NotFound(translatable("This does not exist, or you may not see it."))
    return [by_pk[pk] for pk in pks]
