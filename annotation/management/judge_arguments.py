"""Arguments and sentences shared by commands that ask a judge."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from django.core.management.base import CommandError

from annotation.management.base import counted
from annotation.models import Judge, Project
from annotation.reports.judging.estimates import RunEstimate


def find_judge(project: Project, name: str) -> Judge:
    """The judge of this name. Raises CommandError."""
    judge = Judge.objects.filter(project=project, name=name).first()
    if judge is None:
        raise CommandError(f"There is no judge “{name}” in {project.slug}.")
    return judge


def dollars(amount: str) -> Decimal | None:
    """The amount of `--budget`, None for none. Raises CommandError."""
    if not amount:
        return None
    try:
        return Decimal(amount)
    except InvalidOperation as error:
        raise CommandError(f"--budget {amount}: write an amount in US dollars, for example 2.50.") from error


def in_words(estimate: RunEstimate) -> str:
    """An estimate as the end of a sentence."""
    return (
        f"{counted(estimate.trajectories, 'trajectory')}, about {estimate.tokens_in:,} tokens in and "
        f"{estimate.tokens_out:,} out, {estimate.cost} USD; {estimate.clipped:,} clipped, "
        f"{estimate.too_long:,} too long."
    )
