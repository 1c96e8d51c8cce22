"""Suggestions of judges, for tests that are not about their origin."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from annotation.models import Judge, Step, SuggestedLabel, Suggestion, Trajectory


def suggest(
    judge: Judge,
    trajectory: Trajectory,
    values: int | Sequence[int | None] | None = -1,
    *,
    outcome: int | None = -1,
    comment: str = "",
) -> Suggestion:
    """One judge's suggestion: one value for all steps, or one each (None: missing)."""
    steps = list(Step.objects.filter(trajectory=trajectory).order_by("message_index"))
    given = list(values) if isinstance(values, Sequence) else [values] * len(steps)
    made = Suggestion.objects.create(
        judge=judge,
        trajectory=trajectory,
        outcome=outcome,
        reason=f"{judge.name} on the outcome",
        comment=comment,
        created_at=timezone.now(),
    )
    SuggestedLabel.objects.bulk_create(
        SuggestedLabel(
            suggestion=made, step=step, value=value, reason=f"{judge.name} on {step.message_index}"
        )
        for step, value in zip(steps, given, strict=True)
        if value is not None
    )
    return made
