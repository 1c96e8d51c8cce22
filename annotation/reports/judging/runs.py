"""Runs of judges: progress, failures by kind, costs."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, Max, Min, QuerySet
from django.utils import timezone

from annotation import models as m
from annotation.core.decisions.distractors import Refusal
from annotation.core.vocabulary import SuggestionItemState, SuggestionRunState
from annotation.policies import Actor, require, visible

RATE_WINDOW: Final = timedelta(seconds=60)
ACTIVE: Final = (SuggestionRunState.QUEUED, SuggestionRunState.RUNNING)


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """A judge in the list. `run` is its newest; `suggestions` counts trajectories."""

    judge: m.Judge
    suggestions: int
    run: m.SuggestionRun | None


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of a run, for a page that is looked at while it runs.

    `per_minute`: trajectories, done or failed, over the last minute of its work; None before the first.
    `seconds_left` is None unless it is running and moves. `draining`: paused or cancelled, with calls still
    in flight. `waiting_until`: when the judge's server wants to be asked again.
    """

    run: m.SuggestionRun
    done: int
    failed: int
    total: int
    per_minute: float | None
    seconds_left: float | None
    draining: bool
    waiting_until: datetime | None

    @property
    def due(self) -> int:
        """Trajectories that are still to be asked about."""
        return max(0, self.total - self.done - self.failed)

    @property
    def share(self) -> float:
        """0 … 1, failures included."""
        return (self.done + self.failed) / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Written:
    """Counts of a run that asked for distractors: options `added`, actions `refused` by reason
    (core.decisions.distractors.Refusal), questions that are still `short` after an answer, and those that
    somebody had begun to label, or that were replaced, before they got any (`changed`)."""

    added: int
    refused: Mapping[str, int]
    short: int
    changed: int


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """The failed items of one kind; `message` is one of their sentences."""

    kind: str
    count: int
    message: str


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call as it went over the wire. `cut`: the response was longer than what is kept of it."""

    request: bytes
    response: bytes
    cut: bool

    @property
    def request_text(self) -> str:
        """The request for reading: U+FFFD where it is not UTF-8."""
        return self.request.decode("utf-8", "replace")

    @property
    def response_text(self) -> str:
        """The response for reading: U+FFFD where it is not UTF-8."""
        return self.response.decode("utf-8", "replace")


def judges(*, viewer: Actor, project: m.Project, retired: bool = False) -> list[JudgeRow]:
    """The project's judges by name, retired ones if asked for. Three queries."""
    require(viewer, "judges.change", project)
    rows = m.Judge.objects.filter(project=project).order_by("name")
    if not retired:
        rows = rows.filter(retired_at__isnull=True)
    listed = list(rows)
    counted = (
        m.Suggestion.objects.filter(judge__in=listed).order_by().values_list("judge").annotate(n=Count("pk"))
    )
    counts: dict[int, int] = dict(counted)
    newest = m.SuggestionRun.objects.filter(judge__in=listed).order_by().values("judge")
    latest = m.SuggestionRun.objects.filter(pk__in=newest.annotate(last=Max("pk")).values("last"))
    last = {run.judge_id: run for run in latest.select_related("judge")}
    return [JudgeRow(judge, counts.get(judge.pk, 0), last.get(judge.pk)) for judge in listed]


def runs(*, viewer: Actor, project: m.Project) -> QuerySet[m.SuggestionRun]:
    """The runs of a project, the newest first."""
    require(viewer, "suggest", project)
    rows = m.SuggestionRun.objects.filter(project=project).select_related("judge", "created_by")
    return visible(viewer, rows).order_by("-created_at", "-pk")


def progress(*, viewer: Actor, run: m.SuggestionRun) -> RunProgress:
    """The progress of one run. Two queries; the row is read anew."""
    require(viewer, "suggest", run)
    now = timezone.now()
    run = m.SuggestionRun.objects.select_related("judge", "project", "created_by").get(pk=run.pk)
    rate = _per_minute(run, now) if run.started_at is not None else None
    left = run.progress_total - run.progress_done - run.progress_failed
    moving = run.state == SuggestionRunState.RUNNING and rate
    held = run.lease_until is not None and run.lease_until > now
    return RunProgress(
        run=run,
        done=run.progress_done,
        failed=run.progress_failed,
        total=run.progress_total,
        per_minute=rate,
        seconds_left=max(0, left) / rate * 60 if moving and rate else None,
        draining=held and run.state not in ACTIVE,
        waiting_until=run.not_before if run.not_before is not None and run.not_before > now else None,
    )


def _per_minute(run: m.SuggestionRun, now: datetime) -> float | None:
    """Answers a minute: over the last minute while it runs, over all of its last stretch otherwise."""
    answers = m.JudgeAnswer.objects.filter(run=run, attempt=run.attempt)
    until = now
    if run.state == SuggestionRunState.RUNNING:
        answers = answers.filter(created_at__gte=now - RATE_WINDOW)
    span = answers.aggregate(n=Count("pk"), first=Min("created_at"), last=Max("created_at"))
    if not span["n"]:
        return None
    if run.state != SuggestionRunState.RUNNING:
        until = span["last"]
    seconds = (until - span["first"]).total_seconds()
    if seconds < 1:
        return None
    return float(span["n"]) / seconds * 60


def written(run: m.SuggestionRun) -> Written | None:
    """The counts of a run so far; None for one that asks for labels. No query."""
    if run.options is None:
        return None
    counts = run.distractors
    refused = {str(reason): counts.get("refused", {}).get(reason, 0) for reason in Refusal}
    return Written(
        added=counts.get("added", 0),
        refused={reason: n for reason, n in refused.items() if n},
        short=counts.get("short", 0),
        changed=counts.get("changed", 0),
    )


def failures(*, viewer: Actor, run: m.SuggestionRun) -> list[FailureGroup]:
    """The failures of a run, by kind, the most frequent first. One query."""
    require(viewer, "suggest", run)
    groups = (
        m.SuggestionItem.objects.filter(run=run, state=SuggestionItemState.FAILED)
        .order_by()
        .values("failure")
        .annotate(n=Count("pk"), message=Max("message"))
        .order_by("-n", "failure")
    )
    return [FailureGroup(row["failure"], row["n"], row["message"]) for row in groups]


def audit(answer: m.JudgeAnswer) -> RecordedCall:
    """The request and response of one stored call. For whoever may see the answer (`policies.visible`)."""
    response = zlib.decompress(bytes(answer.response))
    return RecordedCall(
        request=zlib.decompress(bytes(answer.request)),
        response=response,
        cut=answer.response_size > len(response),
    )
