"""The guidelines that a person has not read yet."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Guideline, Membership, Project, User


@dataclass(frozen=True, slots=True)
class UnreadGuideline:
    """The guidelines in force, and the version that the person read last (None: none so far)."""

    guideline: Guideline
    before: Guideline | None


def has_unread(*, user: User, guideline: Guideline | None) -> bool:
    """Whether a member has not read these guidelines, which are those in force. At most one query."""
    if guideline is None or not guideline.text.strip():
        return False
    older = Membership.objects.filter(
        project=guideline.project_id, user=user, guideline_seen__lt=guideline.version
    )
    return older.exists()


def unread(*, user: User, project: Project) -> UnreadGuideline | None:
    """The guidelines that a member has to read before they label; None when they have read those in force. At
    most four queries."""
    newest = Guideline.objects.filter(project=project).order_by("-version").first()
    if newest is None or not has_unread(user=user, guideline=newest):
        return None
    seen = Membership.objects.filter(project=project, user=user).values("guideline_seen")
    return UnreadGuideline(newest, Guideline.objects.filter(project=project, version__in=seen).first())
