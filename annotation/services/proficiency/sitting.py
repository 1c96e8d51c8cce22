"""Sit a proficiency test: begin an attempt, stop one, grant another."""

import random
from collections import Counter

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.training.choosing import draw
from annotation.core.vocabulary import AttemptState, ExpiryReason, RecheckKind
from annotation.models import (
    Assignment,
    Guideline,
    Membership,
    ProficiencyTest,
    Project,
    Recheck,
    TestAttempt,
    TutorialItem,
    User,
)
from annotation.policies import Actor, require
from annotation.reports.training.proficiency import Standing, items_of, key_values, standing

from .. import audit, claim_expiry, training


@transaction.atomic
def begin_attempt(*, actor: User, test: ProficiencyTest) -> TestAttempt:
    """Begin an attempt at a test, or go on with the one that is running.

    Raises Conflict: codes "passed", "used_up", "too_early", and "tutorial" before that is done.
    """
    require(claim_expiry.hold(actor), "claim", test)
    now = timezone.now()
    # its items and marks do not change between this and the first turn
    test = (
        ProficiencyTest.objects.select_for_update(no_key=True, of=("self",))
        .select_related("project")
        .get(pk=test.pk)
    )
    before = standing(actor, test, now=now)
    if before.running is not None:
        return before.running
    _refuse_to_begin(actor, before)
    newest = Guideline.objects.filter(project=test.project).aggregate(n=Max("version"))["n"] or 0
    attempt = TestAttempt.objects.create(
        test=test,
        annotator=actor,
        number=max((one.number for one in before.attempts), default=0) + 1,
        guideline_version=newest,
        begun_at=now,
    )
    training.ask(
        kind=RecheckKind.TEST,
        project=test.project,
        trajectories=_drawn(test, actor),
        annotator=actor,
        now=now,
        attempt=attempt,
    )
    audit.record(actor=actor, verb="test.begin", project=test.project, obj=attempt, number=test.number)
    return attempt


def _refuse_to_begin(actor: User, before: Standing) -> None:
    if before.state == "passed":
        raise Conflict(translatable("You have passed this test."), code="passed")
    if before.state == "used_up":
        raise Conflict(
            translatable("You have no attempt left. An admin of the project can grant one."), code="used_up"
        )
    if before.state == "waiting":
        raise Conflict(
            translatable("The next attempt is possible later; the page of the test says when."),
            code="too_early",
        )
    behind = Membership.objects.filter(project=before.test.project, user=actor, tutorial_done_at=None)
    if behind.exists() and TutorialItem.objects.filter(project=before.test.project).exists():
        raise Conflict(translatable("Do the tutorial first."), code="tutorial")


def _drawn(test: ProficiencyTest, actor: User) -> list[int]:
    """The items of an attempt: as many as the test says, first what they have met least often in tests."""
    rows = items_of(test)
    keys = key_values(rows)
    earlier = Recheck.objects.filter(kind=RecheckKind.TEST.value, annotator=actor, trajectory__in=rows)
    met = Counter(earlier.values_list("trajectory", flat=True))
    pool = [
        (row.pk, any(value == -1 for index, value in keys[row.pk].items() if index is not None))
        for row in rows
    ]
    return draw(pool, test.per_attempt or len(pool), met=met, chance=random.SystemRandom())


@transaction.atomic
def stop_attempt(*, actor: Actor, attempt: TestAttempt) -> TestAttempt:
    """Stop an attempt that is running: it counts as none. For admins. Raises Conflict (code "over") for one
    that is over."""
    require(actor, "training.change", attempt.test)
    claim_expiry.hold(attempt.annotator)
    claims = claim_expiry.lock_claims(Assignment.stored.filter(recheck__attempt=attempt))
    claim_expiry.expire(actor=actor, claims=claims, because=ExpiryReason.TAKEN_BACK)
    if not _stop(actor, TestAttempt.objects.filter(pk=attempt.pk)):
        raise Conflict(translatable("This attempt is over."), code="over")
    attempt.refresh_from_db()
    return attempt


def stop_attempts_of(*, actor: Actor, user: User, project: Project) -> None:
    """Stop the attempts of somebody who does not annotate in a project any more, for services that hold the
    person's row."""
    _stop(actor, TestAttempt.objects.filter(annotator=user, test__project=project))


def _stop(actor: Actor, attempts: QuerySet[TestAttempt]) -> int:
    running = attempts.filter(state=AttemptState.RUNNING.value).select_related("test__project", "annotator")
    rows = list(running.select_for_update(no_key=True, of=("self",)).order_by("pk"))
    for row in rows:
        row.state, row.ended_at = AttemptState.STOPPED.value, timezone.now()
        row.save(update_fields=["state", "ended_at"])
        audit.record(
            actor=actor,
            verb="test.stop",
            project=row.test.project,
            obj=row,
            number=row.test.number,
            username=row.annotator.username,
        )
    return len(rows)


@transaction.atomic
def grant_attempt(*, actor: Actor, attempt: TestAttempt) -> TestAttempt:
    """Grant another attempt in place of one that has failed: that one stays in the list, and neither counts
    nor makes anybody wait. For admins. Raises Conflict (code "not_failed") for one that has not failed."""
    require(actor, "training.change", attempt.test)
    current = TestAttempt.objects.select_for_update(no_key=True, of=("self",)).get(pk=attempt.pk)
    if current.state != AttemptState.FAILED:
        raise Conflict(translatable("Only a failed attempt can be granted again."), code="not_failed")
    if not current.waived:
        current.waived = True
        current.save(update_fields=["waived"])
        audit.record(
            actor=actor,
            verb="test.grant",
            project=attempt.test.project,
            obj=attempt,
            number=attempt.test.number,
            username=attempt.annotator.username,
        )
    return current
