"""Replace a decision by one with the same history and other options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.core.decisions.editing import OptionChange, check_options, decision_of, edited_options
from annotation.core.decisions.record import Decision, Option, decision_draft
from annotation.core.errors import Conflict, Invalid, StaleState
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import sha256_hex
from annotation.core.kinds import Feature
from annotation.core.vocabulary import (
    AssignmentState,
    ExpiryReason,
    ImportState,
    LabelAuditState,
    RecheckState,
)
from annotation.models import (
    ACTIVE_STATES,
    EDITED_FORMAT,
    Adjudication,
    Assignment,
    AuditedTrajectory,
    ImportFile,
    Project,
    Recheck,
    RelabelRequest,
    Reservation,
    Trajectory,
    User,
)
from annotation.policies import Actor, recorded, require
from annotation.policies.replacing import why_not_replace

from .. import audit, claim_expiry, consensus
from ..cursors import lower_cursors
from ..ingest.rows import ImportTally, PreparedDraft, insert_prepared, pack, prepare
from .carrying import carry_over

GONE: Final = translatable("This item has been replaced in the meantime; open it again to see it as it is.")
CHANGED: Final = translatable("Somebody has just begun or ended work on this item; try again.")
NO_DECISION: Final = translatable("Only decisions that Tristep keeps in its own format can be edited.")
MORE_ENDS: Final = translatable(
    "More people have worked on this item meanwhile than you were told; look at it again."
)
AUDITED: Final = translatable("An audit of the labels holds this item; end the audit first.")


@transaction.atomic
def edit_options(
    *, actor: Actor, trajectory: Trajectory, changes: Sequence[OptionChange], ends: int | None = None
) -> Trajectory:
    """Replace an item by one whose options are these; as `replace_options`, which it calls.

    `ends`: of how many people the editor was told that their work ends. Raises StaleState (code "more_ends")
    when it is that of more by now, Invalid for an option that it does not have.
    """
    if (denied := why_not_replace(actor, trajectory)) is not None:
        raise denied
    trajectory.project.of_kind.require(Feature.PAIRS)
    options = edited_options(_recorded(trajectory), changes)
    if isinstance(options, dict):
        raise _refused(options)
    new = replace_options(actor=actor, trajectory=trajectory, options=options)
    if ends is not None and new.pk != trajectory.pk:
        ended = Assignment.objects.filter(
            trajectory=trajectory.pk, expiry_reason=ExpiryReason.REPLACED
        ).count()
        if ended > ends:
            raise StaleState(MORE_ENDS, code="more_ends")
    return new


@transaction.atomic
def replace_options(*, actor: Actor, trajectory: Trajectory, options: Sequence[Option]) -> Trajectory:
    """Put a decision with these options in the place of one, and say which that is now.

    It keeps record id, history, what it asks for and what its source says of it. Of the options, those that
    stay are given as they are (`core.decisions.editing.decision_of`), with their origin and source; a new one
    brings its own. What people and judges have said of the old one ends, and stays in its history: claims and
    submitted labels, its case, its consensus; whose labels end is told so. Whoever has seen what others said
    of it, or knows its source, has done so of the new one too. Releases hold copies and stay as they are.

    The same options change nothing. Raises Invalid by option (`core.decisions.editing.check_options`), Denied
    as `policies.replacing.why_not_replace`, Conflict (code "audited") while an audit holds it or (code
    "no_decision") for what is none, StaleState when it has been replaced or is being worked on just now.
    """
    require(claim_expiry.hold(actor) if isinstance(actor, User) else actor, "item.replace", trajectory)
    if (refused := why_not_replace(actor, trajectory)) is not None:
        raise refused
    trajectory.project.of_kind.require(Feature.PAIRS)
    old = _locked(trajectory)
    decision = _decision(old, options)
    item = prepare(decision_draft(decision))
    if item.digest == old.content_digest:
        return old
    now = timezone.now()
    claims, cases = _claims(old), Adjudication.objects.filter(trajectory=old)
    claim_expiry.release_cases(actor=actor, cases=cases, because=ExpiryReason.REPLACED)
    consensus.unsettle(trajectory=old, actor=recorded(actor))
    RelabelRequest.objects.filter(assignment__in=claims, begun_at__isnull=True).update(begun_at=now)
    claim_expiry.expire(actor=actor, claims=claims, because=ExpiryReason.REPLACED, now=now)
    Recheck.objects.filter(trajectory=old, state=RecheckState.WAITING).update(annotator=None)
    new = _put(old, item, actor)
    carry_over(old, new, actor=actor)
    lower_cursors(project_id=new.project_id, position=new.position)
    audit.record(
        actor=actor,
        verb="item.replace",
        project=new.project,
        obj=new,
        replaced=old.pk,
        options=len(options),
        ended=len(claims),
    )
    return new


def _locked(trajectory: Trajectory) -> Trajectory:
    """The row of a live trajectory, locked after those who work on it and its project."""
    of_it = {"trajectory": trajectory.pk}
    working = Assignment.stored.filter(**of_it).order_by("pk").select_for_update(no_key=True)
    before = set(working.values_list("pk", "state"))
    list(Adjudication.objects.filter(**of_it).order_by("pk").select_for_update(no_key=True))
    # a release is frozen before this or after it, and never meanwhile
    Project.objects.select_for_update(no_key=True).get(pk=trajectory.project_id)
    rows = Trajectory.objects.select_related("project", "subset", "source", "content")
    old = rows.select_for_update(no_key=True, of=("self",)).get(pk=trajectory.pk)
    if not old.live:
        raise StaleState(GONE, code="replaced")
    if set(Assignment.stored.filter(**of_it).order_by().values_list("pk", "state")) != before:
        raise StaleState(CHANGED, code="busy")
    running = AuditedTrajectory.objects.filter(**of_it, audit__state=LabelAuditState.RUNNING)
    if running.exists():
        raise Conflict(AUDITED, code="audited")
    return old


def _decision(old: Trajectory, options: Sequence[Option]) -> Decision:
    decision = _recorded(old)
    if wrong := check_options(decision.asked, options):
        raise _refused(wrong)
    keyed = any(option.key is not None for option in options)
    return replace(decision, options=list(options), contradictory=decision.contradictory and not keyed)


def _recorded(trajectory: Trajectory) -> Decision:
    content = trajectory.content
    decision = decision_of(content.raw_bytes(), content.labels_of_source())
    if decision is None:
        raise Conflict(NO_DECISION, code="no_decision")
    return decision


def _refused(wrong: Mapping[str, str]) -> Invalid:
    return Invalid(next(iter(wrong.values())), code="bad_options", fields=dict(wrong))


def _claims(old: Trajectory) -> list[Assignment]:
    """The turns that end: of the N those that are open or submitted, of rechecks the open ones."""
    ends = Q(recheck__isnull=True, state__in=ACTIVE_STATES) | Q(state=AssignmentState.OPEN)
    rows = Assignment.stored.filter(ends, trajectory=old)
    return list(rows.select_related("trajectory", "annotator", "project").order_by("pk"))


def _put(old: Trajectory, item: PreparedDraft, actor: Actor) -> Trajectory:
    """Make the new row live in the place of the old one; it came with an import of its own, by whose time
    it is told from what a release holds."""
    raw, now = item.draft.raw, timezone.now()
    source = ImportFile.objects.create(
        project=old.project,
        subset=old.subset,
        filename=old.source.filename,
        format=EDITED_FORMAT,
        sha256=sha256_hex(raw),
        size=len(raw),
        replace=True,
        state=ImportState.PUBLISHED,
        replaced_count=1,
        created_by=recorded(actor),
        created_at=now,
        finished_at=now,
    )
    tally = ImportTally()
    insert_prepared(source, [item], pack([item]), tally)
    ImportFile.objects.filter(pk=source.pk).update(step_count=tally.steps)
    Trajectory.objects.filter(pk=old.pk).update(live=False, reserved=0)
    Reservation.objects.filter(trajectory=old).delete()
    Trajectory.objects.filter(source=source).update(live=True)
    return Trajectory.objects.select_related("project", "subset", "content").get(source=source)
