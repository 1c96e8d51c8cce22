"""Store answers in batches, each once, whatever has become of the run: they are paid for."""

import uuid
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from annotation.core.text import escape
from annotation.core.vocabulary import SuggestionItemState
from annotation.models import (
    Judge,
    JudgeAnswer,
    Step,
    SuggestedLabel,
    Suggestion,
    SuggestionItem,
    SuggestionRun,
)
from annotation.providers import Failure, Reply

from .call_pool import CallResult
from .distractors import add_options
from .judge_disagreement import renew_doubt

MAX_MESSAGE = 2_000
LACKING = Q(missing__gt=0) | Q(invalid__gt=0) | Q(outcome=None)
DUE = SuggestionItemState.DUE


@dataclass(frozen=True, slots=True)
class BatchTotals:
    """The number of items that a batch moved on, and its cost."""

    done: int = 0
    failed: int = 0
    cost: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class SuggestionUpdate:
    """The changes of a suggestion by a reply: whether it brought `labels`, and by how many the steps have
    grown (or, where it completed one, shrunk) whose label is `missing`, `invalid` or `order_dependent`."""

    labels: bool
    missing: int
    invalid: int
    order_dependent: int


def store(
    run: SuggestionRun, batch: Sequence[CallResult], *, still_due: Collection[uuid.UUID] = ()
) -> BatchTotals:
    """Write the calls of a batch, their suggestions and what they mean for the run, in one transaction.

    May be done twice with the same batch, and by two workers with answers about the same trajectory: calls
    are told apart by their ids, and the first suggestion of a judge stands. Needs no lease: the money is
    spent. `still_due`: ids of failed calls whose items stay due (the run stops, their turn comes again).
    """
    if run.options is not None and len(batch) > 1:
        # a question that is replaced locks its project: each answer for itself
        stored_ones = [store(run, [result], still_due=still_due) for result in batch]
        return BatchTotals(
            sum(one.done for one in stored_ones),
            sum(one.failed for one in stored_ones),
            sum((one.cost for one in stored_ones), Decimal(0)),
        )
    with transaction.atomic():
        # The row's lock makes two workers' batches follow one another.
        SuggestionRun.objects.filter(pk=run.pk).update(deaths=0)
        ids = [result.id for result in batch]
        stored = set(JudgeAnswer.objects.filter(pk__in=ids).values_list("pk", flat=True))
        fresh = [result for result in batch if result.outcome is not None and result.id not in stored]
        if not fresh:
            return BatchTotals()
        answers = [_answer(run, result) for result in fresh]
        JudgeAnswer.objects.bulk_create(answers)
        replies = [result for result in fresh if isinstance(result.outcome, Reply)]
        labels = run.options is None and run.prompts_id is None
        written = _suggest(run, replies) if labels else {}
        done = _items(run, [reply.item for reply in replies if reply.failure is None]).update(
            state=SuggestionItemState.DONE, failure="", message=""
        )
        if run.options is not None and done:
            for reply in replies:
                assert isinstance(reply.outcome, Reply)
                add_options(run, reply.trajectory, reply.outcome.judgement.proposals)
        failed = sum(_fail(run, result) for result in fresh if result.failure and result.id not in still_due)
        total = sum((answer.cost for answer in answers), Decimal(0))
        counts = _counts(replies, written)
        SuggestionRun.objects.filter(pk=run.pk).update(
            calls=F("calls") + len(fresh),
            cost=F("cost") + total,
            **({"cost_estimated": True} if any(answer.estimated for answer in answers) else {}),
            tokens_in=F("tokens_in") + sum(answer.tokens_in for answer in answers),
            tokens_out=F("tokens_out") + sum(answer.tokens_out for answer in answers),
            progress_done=F("progress_done") + done,
            progress_failed=F("progress_failed") + failed,
            clipped=F("clipped") + counts["clipped"],
            labels_missing=F("labels_missing") + counts["missing"],
            labels_invalid=F("labels_invalid") + counts["invalid"],
            labels_extra=F("labels_extra") + counts["extra"],
            labels_order_dependent=F("labels_order_dependent") + counts["order_dependent"],
        )
    return BatchTotals(done, failed, total)


def _items(run: SuggestionRun, items: list[int]) -> Any:
    return SuggestionItem.objects.filter(run=run, pk__in=items, state=DUE)


def _fail(run: SuggestionRun, result: CallResult) -> int:
    assert result.failure is not None
    return int(
        _items(run, [result.item]).update(
            state=SuggestionItemState.FAILED,
            failure=result.failure.kind.value,
            message=escape(result.failure.message)[:MAX_MESSAGE],
        )
    )


def _answer(run: SuggestionRun, result: CallResult) -> JudgeAnswer:
    outcome = result.outcome
    assert outcome is not None
    failure = result.failure
    usage = outcome.usage
    return JudgeAnswer(
        pk=result.id,
        run=run,
        judge_id=run.judge_id,
        trajectory_id=result.trajectory,
        attempt=run.attempt,
        request=result.request,
        response=result.response,
        response_size=result.response_size,
        status=outcome.exchange.status,
        failure=failure.kind.value if failure is not None else "",
        message=escape(failure.message)[:MAX_MESSAGE] if failure is not None else "",
        tokens_in=usage.tokens_in if usage is not None else 0,
        tokens_out=usage.tokens_out if usage is not None else 0,
        estimated=usage.estimated if usage is not None else False,
        cost=outcome.cost,
        latency_ms=round(outcome.exchange.seconds * 1000),
        tries=outcome.exchange.attempts,
        notes=_notes(outcome),
        created_at=result.at,
    )


def _notes(outcome: Reply | Failure) -> dict[str, Any]:
    """Notes for an auditor beside the raw bytes; ASCII-safe, since they lie in a JSON column."""
    notes: dict[str, Any] = {}
    if outcome.judgement is not None and outcome.judgement.problems:
        notes["problems"] = [
            {name: escape(text) for name, text in problem.as_dict().items()}
            for problem in outcome.judgement.problems
        ]
    if isinstance(outcome, Reply):
        notes["clipped"] = [escape(sentence) for sentence in outcome.clipped]
        notes["model"] = escape(outcome.model)
        notes["finish_reason"] = escape(outcome.finish_reason)
        notes["prompt_version"] = outcome.prompt_version
        notes["output"] = escape(outcome.judgement.text)
    return {name: value for name, value in notes.items() if value}


def _suggest(run: SuggestionRun, replies: Sequence[CallResult]) -> dict[uuid.UUID, SuggestionUpdate]:
    """Write the suggestions; what came of each reply, by call, but of those that came too late."""
    rows = []
    for reply in replies:
        assert isinstance(reply.outcome, Reply)
        judgement = reply.outcome.judgement
        rows.append(
            Suggestion(
                judge_id=run.judge_id,
                trajectory_id=reply.trajectory,
                run=run,
                answer_id=reply.id,
                outcome=judgement.outcome,
                reason=escape(judgement.outcome_reason),
                missing=judgement.missing,
                invalid=judgement.invalid,
                extra=judgement.extra,
                order_dependent=len(judgement.order_dependent),
                # of a workshop's trial, nobody else shall know
                live=run.judge.sample_id is None,
                created_at=reply.at,
            )
        )
    Suggestion.stored.bulk_create(rows, ignore_conflicts=True)
    # only those that were really written: another worker's suggestion may have been first
    own = dict(
        Suggestion.stored.filter(answer_id__in=[reply.id for reply in replies]).values_list("answer_id", "pk")
    )
    places = _steps([reply.trajectory for reply in replies if reply.id in own])
    labels = [
        label for reply in replies if reply.id in own for label in _labels(reply, own[reply.id], places)
    ]
    SuggestedLabel.stored.bulk_create(labels)
    written = {
        row.answer_id: SuggestionUpdate(True, row.missing, row.invalid, row.order_dependent)
        for row in rows
        if row.answer_id in own
    }
    written |= _complete(run, [reply for reply in replies if reply.id not in own])
    renew_doubt({reply.trajectory for reply in replies if reply.id in written and written[reply.id].labels})
    return written


def _labels(result: CallResult, suggestion: int, places: dict[tuple[int, int], int]) -> list[SuggestedLabel]:
    """The labels of a reply as rows of a suggestion."""
    assert isinstance(result.outcome, Reply)
    judgement = result.outcome.judgement
    return [
        SuggestedLabel(
            suggestion_id=suggestion,
            step_id=places[result.trajectory, index],
            value=value,
            reason=escape(judgement.reasons.get(index, "")),
            probability=judgement.probabilities.get(index),
        )
        for index, value in judgement.labels.items()
        if (value is not None or index in judgement.order_dependent) and (result.trajectory, index) in places
    ]


def _complete(run: SuggestionRun, replies: Sequence[CallResult]) -> dict[uuid.UUID, SuggestionUpdate]:
    """Add to the judge's suggestions what they lack (a part that had failed, in this run or in one before);
    no label is replaced."""
    if not replies:
        return {}
    rows = Suggestion.stored.filter(
        LACKING, judge=run.judge_id, trajectory__in=[reply.trajectory for reply in replies]
    )
    suggestions = {row.trajectory_id: row for row in rows}
    labels = SuggestedLabel.stored.filter(suggestion__in=suggestions.values())
    held = set(labels.values_list("suggestion_id", "step_id"))
    places = _steps(list(suggestions))
    written: dict[uuid.UUID, SuggestionUpdate] = {}
    for reply in replies:
        assert isinstance(reply.outcome, Reply)
        if (row := suggestions.get(reply.trajectory)) is None:
            continue
        fresh = [new for new in _labels(reply, row.pk, places) if (row.pk, new.step_id) not in held]
        held.update((row.pk, label.step_id) for label in fresh)
        SuggestedLabel.stored.bulk_create(fresh)
        judgement, before = reply.outcome.judgement, (row.missing, row.invalid)
        # steps whose label was invalid are asked about again, too
        without = max(row.missing + row.invalid - len(fresh), 0)
        row.invalid = min(judgement.invalid, without)
        row.missing = without - row.invalid
        if row.outcome is None:
            row.outcome = judgement.outcome
            row.reason = escape(judgement.outcome_reason)
        order_dependent = sum(new.value is None for new in fresh)
        row.order_dependent += order_dependent
        row.save(update_fields=["missing", "invalid", "order_dependent", "outcome", "reason"])
        written[reply.id] = SuggestionUpdate(
            bool(fresh), row.missing - before[0], row.invalid - before[1], order_dependent
        )
    if any(item.labels for item in written.values()):
        # a suggestion that is completed is no newer for it: its labels would stay without a recalibration
        Judge.objects.filter(pk=run.judge_id, recalibrate=True).update(recalibrated_at=None)
    return written


def _steps(trajectories: list[int]) -> dict[tuple[int, int], int]:
    """Step ids by trajectory and message index."""
    rows = Step.objects.filter(trajectory__in=trajectories).order_by()
    return {
        (trajectory, index): pk
        for trajectory, index, pk in rows.values_list("trajectory_id", "message_index", "pk")
    }


def _counts(replies: Sequence[CallResult], written: Mapping[uuid.UUID, SuggestionUpdate]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for reply in replies:
        assert isinstance(reply.outcome, Reply)
        if (of_it := written.get(reply.id)) is not None:
            counts["missing"] += of_it.missing
            counts["invalid"] += of_it.invalid
            counts["order_dependent"] += of_it.order_dependent
        counts["extra"] += reply.outcome.judgement.extra
        counts["clipped"] += bool(reply.outcome.clipped)
    return counts
