"""Short ways to talk: what several files of tests do in a discussion."""

from __future__ import annotations

from typing import Any

from annotation.models import Comment, Discussion, Notice, Revision, User
from annotation.reports.cases import discussions as reports
from annotation.services import discuss, noted_reads


def read(user: User, talk: Discussion) -> reports.ReadableDiscussion:
    rows = Discussion.objects.select_related(
        "project", "trajectory__project", "trajectory__subset", "trajectory__task"
    )
    return noted_reads.discussion(actor=user, row=rows.get(pk=talk.pk))


def letter_of(user: User, talk: Discussion) -> str:
    return read(user, talk).letter


def say(user: User, talk: Discussion, text: str = "Look at the result.", at: int | None = 4) -> Comment:
    return discuss.comment(actor=user, discussion=talk, text=text, message_index=at)


def revise(user: User, talk: Discussion, at: int | None, value: int, **more: Any) -> Revision:
    given: dict[str, Any] = {"note": "The result says so.", **more}
    return discuss.revise(actor=user, discussion=talk, message_index=at, value=value, **given)


def told(user: User) -> list[str]:
    return list(Notice.objects.filter(user=user).order_by("pk").values_list("kind", flat=True))
