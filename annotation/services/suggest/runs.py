"""Start, pause, resume, cancel and retry runs. What the worker does is in `runner`."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Sum
from django.utils import timezone

from annotation import dispatch
from annotation.core import workflow
from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.judging.kinds import KINDS
from annotation.core.judging.prompts import check_version
from annotation.core.vocabulary import (
    ENDED_RUNS,
    RESUMABLE_RUNS,
    PromptSetState,
    SuggestionItemState,
    SuggestionRunState,
)
from annotation.models import (
    UNFINISHED_RUNS,
    Guideline,
    Judge,
    PromptSet,
    Suggestion,
    SuggestionItem,
    SuggestionRun,
)
from annotation.policies import Actor, recorded, require
from annotation.providers import FailureKind
from annotation.reports.judging.run_selection import ALL, INCOMPLETE, RunSelection, pending_trajectories
from annotation.reports.judging.short_questions import check_options, short_questions
from annotation.reports.releases.prompts import asked_trajectories

from .. import audit
from ..bulk import insert
from ..job_lease import LEASE
from ..transitions import advance

ITEMS_AT_ONCE = 2_000
State = SuggestionRunState
NOTHING_SHORT: Final = translatable(
    "Nothing to do: every selected question that has a key, and that nobody has begun to label, has as many "
    "options."
)
# What a run that stopped may have failed at through no fault of the trajectory: resumed, it asks again.
TRANSIENT: Final = (
    FailureKind.TIMEOUT.value,
    FailureKind.RATE_LIMITED.value,
    FailureKind.SERVER_ERROR.value,
    FailureKind.CONNECTION.value,
)


@transaction.atomic
def start_run(
    *,
    actor: Actor,
    judge: Judge,
    selection: RunSelection = ALL,
    options: int | None = None,
    prompts: PromptSet | None = None,
    budget: Decimal | None = None,
    estimate: Mapping[str, Any] | None = None,
    enqueue: bool = True,
) -> SuggestionRun:
    """Queue a run of a judge over a selection, and fix which trajectories it is about.

    With `options` it asks for distractors instead of labels, for the questions of the selection that have
    fewer options (reports.judging.short_questions); with `prompts`, of a release of its project, it is asked
    those that are for testing. `budget` in US dollars; `estimate` is kept with the run
    (reports.judging.estimates). With `enqueue` False the caller does it (`run_suggestions`) in its own
    process. Raises Invalid when no trajectory is pending or a value is wrong, Conflict when the judge is at
    work or retired, or another judge writes distractors for the project.
    """
    require(actor, "suggest", judge)
    # a judge is not retired or changed while its run begins
    judge = Judge.stored.select_for_update(no_key=True).select_related("project").get(pk=judge.pk)
    _may_run(judge)
    if options is not None:
        _may_write(judge, options)
    if prompts is not None:
        _may_be_asked(judge, prompts)
    _check_budget(judge, budget)
    now = timezone.now()
    newest = Guideline.objects.filter(project=judge.project_id).order_by("-version").first()
    try:
        with transaction.atomic():
            run = SuggestionRun.objects.create(
                judge=judge,
                project_id=judge.project_id,
                selection=selection.as_dict() if prompts is None else {"prompts": prompts.name},
                prompts=prompts,
                estimate=dict(estimate or {}),
                options=options,
                budget=budget,
                guideline_version=newest.version if newest is not None else None,
                resend_at=now + LEASE,
                created_by=recorded(actor),
                created_at=now,
            )
    except IntegrityError as error:
        raise _at_work(judge) from error
    total = _add_items(run, selection)
    if not total:
        raise _nothing_due(run)
    run.progress_total = total
    if options is None and prompts is None:
        # what suggestions of earlier runs lack, it takes over
        begun = Suggestion.stored.filter(judge=judge, trajectory__in=run.items.values("trajectory"))
        lacking = begun.aggregate(missing=Sum("missing", default=0), invalid=Sum("invalid", default=0))
        run.labels_missing, run.labels_invalid = lacking["missing"], lacking["invalid"]
    run.save(update_fields=["progress_total", "labels_missing", "labels_invalid"])
    audit.record(
        actor=actor,
        verb="suggestions.start",
        project=judge.project,
        obj=run,
        judge=judge.name,
        trajectories=total,
        budget=None if budget is None else str(budget),
        **({} if options is None else {"options": options}),
        **({} if prompts is None else {"prompts": prompts.name}),
    )
    if enqueue:
        dispatch.send("run_suggestions", run.pk)
    return run


@transaction.atomic
def pause_run(*, actor: Actor, run: SuggestionRun) -> None:
    """Begin no further call; calls in flight are still stored. Raises StaleState."""
    require(actor, "suggest", run)
    advance(SuggestionRun, run.pk, (State.QUEUED, State.RUNNING), State.PAUSED)
    audit.record(actor=actor, verb="suggestions.pause", project=run.project, obj=run)


@transaction.atomic
def cancel_run(*, actor: Actor, run: SuggestionRun) -> None:
    """End a run for good; what it has brought stays, and calls in flight are still stored."""
    require(actor, "suggest", run)
    from_state = (State.QUEUED, State.RUNNING, State.PAUSED, State.STOPPED, State.OVER_BUDGET)
    advance(SuggestionRun, run.pk, from_state, State.CANCELLED, finished_at=timezone.now())
    audit.record(actor=actor, verb="suggestions.cancel", project=run.project, obj=run)


def _locked(run: SuggestionRun) -> SuggestionRun:
    """The run's row, locked until the transaction ends. Raises what `_may_run` raises of its judge."""
    locked = SuggestionRun.objects.select_for_update(of=("self",), no_key=True)
    current = locked.select_related("judge__project").get(pk=run.pk)
    _may_run(current.judge)
    return current


@transaction.atomic
def resume_run(
    *, actor: Actor, run: SuggestionRun, budget: Decimal | None = None, enqueue: bool = True
) -> None:
    """Go on with a run that was paused, stopped or ran out of budget; `budget` replaces the one it had.

    Raises Invalid when the budget is spent already, Conflict when the judge has another run, StaleState.
    """
    require(actor, "suggest", run)
    current = _locked(run)
    limit = current.budget if budget is None else budget
    _check_budget(current.judge, budget)
    if limit is not None and limit <= current.cost:
        problem = translatable(
            "The run has already cost {cost} USD; raise the budget above that.", cost=f"{current.cost:.4f}"
        )
        raise Invalid(problem, fields={"budget": problem})
    if current.state == State.STOPPED:
        _again(current, failure__in=TRANSIENT)
    _settle(current)
    _queue(current, RESUMABLE_RUNS, budget=limit)
    audit.record(
        actor=actor,
        verb="suggestions.resume",
        project=current.project,
        obj=current,
        budget=None if limit is None else str(limit),
    )
    if enqueue:
        dispatch.send("run_suggestions", current.pk)


@transaction.atomic
def retry_failed(*, actor: Actor, run: SuggestionRun, enqueue: bool = True) -> int:
    """Ask again about what failed in a run that has ended; how many those are.

    Raises Invalid when nothing failed, Conflict when the judge has another run, StaleState.
    """
    require(actor, "suggest", run)
    current = _locked(run)
    again = _again(current)
    if not again:
        raise Invalid(translatable("Nothing has failed in this run."), code="nothing_failed")
    again -= _settle(current)
    if not again:
        raise _nothing_due(current)
    _queue(current, ENDED_RUNS)
    audit.record(
        actor=actor, verb="suggestions.retry", project=current.project, obj=current, trajectories=again
    )
    if enqueue:
        dispatch.send("run_suggestions", current.pk)
    return again


def _again(run: SuggestionRun, **which: Any) -> int:
    """Make failed items due again; how many."""
    workflow.check(SuggestionItemState.FAILED, SuggestionItemState.DUE)
    failed = SuggestionItem.objects.filter(run=run, state=SuggestionItemState.FAILED, **which)
    again = failed.update(state=SuggestionItemState.DUE, failure="", message="")
    SuggestionRun.objects.filter(pk=run.pk).update(progress_failed=F("progress_failed") - again)
    return again


def _settle(run: SuggestionRun) -> int:
    """Count as done what another run has brought since, so that nobody pays for it twice; how many. Of
    questions the worker sees to that."""
    if run.options is not None or run.prompts_id is not None:
        return 0
    others = Suggestion.stored.filter(judge=run.judge_id, trajectory=OuterRef("trajectory")).exclude(
        INCOMPLETE
    )
    due = SuggestionItem.objects.filter(Exists(others), run=run, state=SuggestionItemState.DUE)
    settled = due.update(state=SuggestionItemState.DONE)
    SuggestionRun.objects.filter(pk=run.pk).update(progress_done=F("progress_done") + settled)
    return settled


def _nothing_due(run: SuggestionRun) -> Invalid:
    if run.options is not None:
        return Invalid(NOTHING_SHORT, code="nothing_due")
    if run.prompts_id is not None:
        return Invalid(translatable("None of these prompts can be asked here."), code="nothing_due")
    sentence = translatable(
        "Nothing to do: this judge already has suggestions for all selected trajectories."
    )
    return Invalid(sentence, code="nothing_due")


def _queue(run: SuggestionRun, from_state: tuple[State, ...], **values: Any) -> None:
    try:
        with transaction.atomic():
            advance(
                SuggestionRun,
                run.pk,
                from_state,
                State.QUEUED,
                stop_reason="",
                finished_at=None,
                deaths=0,
                resend_at=timezone.now() + LEASE,
                not_before=None,
                **values,
            )
    except IntegrityError as error:
        raise _at_work(run.judge) from error


def _at_work(judge: Judge) -> Conflict:
    if not SuggestionRun.objects.filter(judge=judge, state__in=UNFINISHED_RUNS).exists():
        return Conflict(
            translatable(
                "Another judge is writing distractors for this project; only one at a time is possible."
            ),
            code="others_at_work",
        )
    return Conflict(
        translatable("This judge already has an active run; only one at a time is possible."),
        code="judge_at_work",
    )


def _may_run(judge: Judge) -> None:
    if not KINDS[judge.kind].runnable:
        raise Invalid(
            translatable("This judge cannot be run: its suggestions come from elsewhere."), code="not_asked"
        )
    if judge.retired_at is not None:
        raise Conflict(translatable("This judge is retired."), code="judge_retired")
    if KINDS[judge.kind].prompted:
        # one that was made when decisions had no prompt of their own
        check_version(judge.project.of_kind, judge.prompt_version)


def _may_write(judge: Judge, options: int) -> None:
    check_options(options)
    if not KINDS[judge.kind].prompted:
        raise Invalid(translatable("Only a judge on a server can write distractors."), code="no_prompt")


def _may_be_asked(judge: Judge, prompts: PromptSet) -> None:
    if prompts.release.project_id != judge.project_id:
        raise Invalid(translatable("This judge belongs to another project."), code="other_project")
    if not KINDS[judge.kind].prompted:
        raise Invalid(translatable("Only a judge on a server can be asked prompts."), code="no_prompt")
    if prompts.state != PromptSetState.MADE:
        raise Conflict(translatable("These prompts are not made yet."), code="not_made")


def _check_budget(judge: Judge, budget: Decimal | None) -> None:
    if budget is None:
        return
    problem = ""
    if not budget.is_finite() or budget <= 0:
        problem = translatable("The budget must be more than 0.")
    elif not judge.price_input and not judge.price_output:
        problem = translatable("To set a budget, enter the judge’s prices first.")
    if problem:
        raise Invalid(problem, fields={"budget": problem})


def _add_items(run: SuggestionRun, selection: RunSelection) -> int:
    """A row for every trajectory of the selection, in the order of the queue."""
    rows: Iterator[int]
    if run.prompts is not None:
        rows = iter(asked_trajectories(run.prompts))
    elif run.options is not None:
        rows = iter(short_questions(run.judge, selection, run.options))
    else:
        pending = pending_trajectories(run.judge, selection).values_list("pk", flat=True)
        rows = pending.iterator(chunk_size=ITEMS_AT_ONCE)
    total = 0
    while part := list(islice(rows, ITEMS_AT_ONCE)):
        insert(SuggestionItem, ("run_id", "trajectory_id"), [(run.pk, pk) for pk in part])
        total += len(part)
    return total
