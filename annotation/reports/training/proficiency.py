"""Proficiency tests: what they are made of, who stands where, and what came of an attempt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotation.core.errors import Denied
from annotation.core.i18n import translatable
from annotation.core.text import unescape
from annotation.core.training.choosing import FEWEST, Candidate, propose
from annotation.core.training.false_pass import Asked, FalsePass, always_plus, copied, false_pass
from annotation.core.vocabulary import AttemptState, RecheckState
from annotation.models import (
    Assignment,
    KeyLabel,
    Label,
    OutcomeLabel,
    ProficiencyTest,
    Project,
    Recheck,
    Step,
    SuggestedLabel,
    Suggestion,
    TestAttempt,
    Trajectory,
    User,
)
from annotation.policies import require
from annotation.policies.qualifying import counting
from annotation.policies.training import keyed

from .tutorial import choices

ALWAYS_PLUS: Final = ""
"""The name of the rule that says +1 of everything, among judges."""


def asked_of(test: ProficiencyTest) -> Asked:
    """The marks that a test asks for."""
    return Asked(test.agreement, test.error_recall, test.first_error)


# ── What tests are made of ────────────────
def key_values(trajectories: Collection[Trajectory]) -> dict[int, dict[int | None, int]]:
    """The values of many keys by the pk of the trajectory and message index; a copy without a key of its own
    has its original's. One query."""
    wanted = {pk for row in trajectories for pk in (row.pk, row.copy_of_id) if pk is not None}
    values: dict[int, dict[int | None, int]] = {}
    rows = KeyLabel.objects.filter(trajectory__in=wanted).order_by("trajectory", "step__message_index")
    for trajectory, index, value in rows.values_list("trajectory", "step__message_index", "value"):
        values.setdefault(trajectory, {})[index] = value
    return {row.pk: values.get(row.pk) or values.get(row.keyed_by, {}) for row in trajectories}


def candidates(trajectories: Collection[Trajectory]) -> list[Candidate]:
    """Keyed trajectories with their keys, and with what judges say of them or of what they are copies of, by
    the judges' names. Three queries."""
    keys = key_values(trajectories)
    suggested = _suggested({pk for row in trajectories for pk in (row.pk, row.copy_of_id) if pk is not None})
    return [
        Candidate(row.pk, keys[row.pk], {**suggested.get(row.keyed_by, {}), **suggested.get(row.pk, {})})
        for row in trajectories
    ]


def _suggested(trajectories: Collection[int]) -> dict[int, dict[str, dict[int | None, int]]]:
    suggested: dict[int, dict[str, dict[int | None, int]]] = {}
    outcomes = Suggestion.objects.filter(trajectory__in=trajectories).order_by()
    for trajectory, judge, outcome in outcomes.values_list("trajectory", "judge__name", "outcome"):
        labels = suggested.setdefault(trajectory, {}).setdefault(judge, {})
        if outcome is not None:
            labels[None] = outcome
    steps = SuggestedLabel.objects.filter(
        suggestion__trajectory__in=trajectories, value__isnull=False
    ).order_by()
    columns = ("suggestion__trajectory", "suggestion__judge__name", "step__message_index", "value")
    for trajectory, judge, index, value in steps.values_list(*columns):
        if value is not None:
            suggested[trajectory][judge][index] = value
    return suggested


def could_test(project: Project) -> QuerySet[Trajectory]:
    """The training trajectories that a test can be made of: with a whole key, and not in the tutorial. No
    query by itself."""
    return keyed(choices(project)).filter(tutorial_item__isnull=True)


def proposed(*, viewer: User, project: Project, size: int = FEWEST) -> list[int]:
    """The trajectories (pks) to take for a test (`core.training.choosing.propose`), for admins. Raises Denied
    to others. Four queries, and that of the permission."""
    require(viewer, "training.view", project)
    return propose(candidates(list(could_test(project))), size, seed=project.pk)


def false_passes(*, viewer: User, test: ProficiencyTest) -> dict[str, FalsePass]:
    """The chance that a test is passed by always +1 (named ""), and by copying each judge that has labelled
    one of its items, for admins. Four queries, and that of the permission."""
    require(viewer, "training.view", test)
    pool = candidates(items_of(test))
    asked, size = asked_of(test), test.per_attempt or len(pool)
    passes = {
        ALWAYS_PLUS: false_pass(
            [(one.key, always_plus(one.key)) for one in pool], asked, size=size, certain=True
        )
    }
    for judge in sorted({name for one in pool for name in one.judges}):
        labels = [(one.key, copied(one.key, one.judges.get(judge, {}))) for one in pool]
        passes[judge] = false_pass(labels, asked, size=size)
    return passes


def items_of(test: ProficiencyTest) -> list[Trajectory]:
    """The trajectories of a test in their order. One query."""
    rows = Trajectory.objects.filter(test_items__test=test).select_related("subset")
    return list(rows.order_by("test_items__place"))


def tests_of(*, viewer: User, project: Project) -> QuerySet[ProficiencyTest]:
    """The tests of a project by number, with `size`, how many items each has, `passed` and `failed`, how many
    attempts ended so. For admins; raises Denied to others."""
    require(viewer, "training.view", project)
    ended = {
        state.value: Count("sittings", filter=Q(sittings__state=state.value), distinct=True)
        for state in (AttemptState.PASSED, AttemptState.FAILED)
    }
    rows = ProficiencyTest.objects.filter(project=project).order_by("number")
    return rows.annotate(size=Count("items", distinct=True), **ended).prefetch_related("opens")


# ── Who stands where ──────────────────────
@dataclass(frozen=True, slots=True)
class Standing:
    """One person before one test. `state`: "passed", "running", "ready", "waiting" (until `next_at`) or
    "used_up". `left`: so many attempts they still have; `attempts`: theirs so far, the newest first, those
    for older guidelines included. `done` of `size` items of the running one are labelled."""

    test: ProficiencyTest
    state: str
    left: int
    attempts: tuple[TestAttempt, ...]
    size: int
    next_at: datetime | None = None
    done: int = 0

    @property
    def running(self) -> TestAttempt | None:
        """The attempt that they are at."""
        return next((one for one in self.attempts if one.state == AttemptState.RUNNING), None)


def standing(user: User, test: ProficiencyTest, *, now: datetime | None = None) -> Standing:
    """The standing of a person before a test. At most four queries."""
    now = now or timezone.now()
    attempts = tuple(TestAttempt.objects.filter(test=test, annotator=user).order_by("-number"))
    valid = {*counting(TestAttempt.objects.filter(test=test, annotator=user)).values_list("pk", flat=True)}
    size = test.per_attempt or test.items.count()
    failed = [
        one
        for one in attempts
        if one.pk in valid and one.state == AttemptState.FAILED and not one.waived and one.ended_at
    ]
    left = max(0, test.attempts - len(failed))
    if any(one.pk in valid and one.state == AttemptState.PASSED for one in attempts):
        return Standing(test, "passed", left, attempts, size)
    for one in attempts:
        if one.state == AttemptState.RUNNING:
            turns = Recheck.objects.filter(attempt=one)
            done = turns.filter(state=RecheckState.DONE.value).count()
            return Standing(test, "running", left, attempts, turns.count(), done=done)
    if not left:
        return Standing(test, "used_up", 0, attempts, size)
    if failed:
        next_at = max(one.ended_at for one in failed if one.ended_at) + timedelta(hours=test.wait_hours)
        if next_at > now:
            return Standing(test, "waiting", left, attempts, size, next_at=next_at)
    return Standing(test, "ready", left, attempts, size)


def attempts_at(test: ProficiencyTest) -> QuerySet[TestAttempt]:
    """All attempts at a test with their people, the newest first. No query by itself."""
    return TestAttempt.objects.filter(test=test).select_related("annotator", "test").order_by("-pk")


# ── What came of an attempt ───────────────
@dataclass(frozen=True, slots=True)
class Difference:
    """One label of an attempt that is not the key's. `number` is that of the step from 1, None of the
    outcome; `own` None: it was not labelled. `reason` and `note` say why the key is right."""

    number: int | None
    own: int | None
    key: int
    reason: str
    note: str


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One item of an attempt: its trajectory, its annotator's assignment, how many labels its key has, and
    where they differ."""

    trajectory: Trajectory
    assignment: int | None
    labels: int
    differences: tuple[Difference, ...]


def result(*, viewer: User, attempt: TestAttempt) -> list[ItemResult]:
    """Differences between the labels of an attempt that is over and the keys, item by item as they were
    labelled: for its annotator and admins. Raises Denied to others, and to everybody before it is over. At
    most seven queries."""
    if attempt.annotator_id != viewer.pk:
        require(viewer, "training.view", attempt.test)
    elif attempt.state not in (AttemptState.PASSED, AttemptState.FAILED):
        raise Denied(translatable("The result is told once the attempt is over."), code="sealed")
    turns = Recheck.objects.filter(attempt=attempt).select_related("trajectory__subset").order_by("pk")
    rows = [turn.trajectory for turn in turns]
    own = labels_of_attempt(attempt)
    assignments = dict(
        Assignment.stored.filter(recheck__attempt=attempt).order_by().values_list("trajectory", "pk")
    )
    steps: dict[int, dict[int, int]] = {}
    for trajectory, index, ordinal in Step.objects.filter(trajectory__in=rows).values_list(
        "trajectory", "message_index", "ordinal"
    ):
        steps.setdefault(trajectory, {})[index] = ordinal + 1
    keys = _key_rows(rows)
    return [
        ItemResult(
            row,
            assignments.get(row.pk),
            len(keys[row.pk]),
            tuple(_differences(own.get(row.pk, {}), keys[row.pk], steps.get(row.pk, {}))),
        )
        for row in rows
    ]


def labels_of_attempt(attempt: TestAttempt) -> dict[int, dict[int | None, int]]:
    """The labels of an attempt by the pk of the trajectory and message index. Two queries."""
    by_item: dict[int, dict[int | None, int]] = {}
    mine = {"assignment__recheck__attempt": attempt, "value__isnull": False}
    labels = Label.stored.filter(**mine).order_by()
    for trajectory, index, value in labels.values_list("step__trajectory", "step__message_index", "value"):
        if value is not None:
            by_item.setdefault(trajectory, {})[index] = value
    outcomes = OutcomeLabel.stored.filter(**mine).order_by()
    for trajectory, value in outcomes.values_list("assignment__trajectory", "value"):
        if value is not None:
            by_item.setdefault(trajectory, {})[None] = value
    return by_item


def _key_rows(trajectories: Sequence[Trajectory]) -> dict[int, dict[int | None, KeyLabel]]:
    wanted = {pk for row in trajectories for pk in (row.pk, row.copy_of_id) if pk is not None}
    keys: dict[int, dict[int | None, KeyLabel]] = {}
    for label in KeyLabel.objects.filter(trajectory__in=wanted).select_related("step"):
        index = label.step.message_index if label.step is not None else None
        keys.setdefault(label.trajectory_id, {})[index] = label
    return {row.pk: keys.get(row.pk) or keys.get(row.keyed_by, {}) for row in trajectories}


def _differences(
    own: Mapping[int | None, int], key: Mapping[int | None, KeyLabel], numbers: Mapping[int, int]
) -> Iterable[Difference]:
    for index in sorted(key, key=lambda one: (one is None, one or 0)):
        label = key[index]
        if own.get(index) != label.value:
            number = None if index is None else numbers.get(index)
            yield Difference(number, own.get(index), label.value, label.reason, unescape(label.note))


def attempt_over(user: User, attempt: str) -> int | None:
    """A person's own attempt by the text of its pk, when it is over; else None. One query."""
    if not (attempt.isascii() and attempt.isdecimal() and len(attempt) < 18):
        return None
    ended = (AttemptState.PASSED.value, AttemptState.FAILED.value)
    rows = TestAttempt.objects.filter(pk=int(attempt), annotator=user, state__in=ended)
    return rows.values_list("pk", flat=True).first()
