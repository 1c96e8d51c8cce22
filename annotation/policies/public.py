"""Public reading, signed in or not: the releases whose public address an admin has switched on."""

from __future__ import annotations

from django.db.models import QuerySet

from annotation import models as m
from annotation.core.errors import NotFound
from annotation.core.i18n import translatable


def published(releases: QuerySet[m.Release, m.Release]) -> QuerySet[m.Release, m.Release]:
    """The public ones of the releases."""
    return releases.filter(public_release__is_open=True)


def require_published(release: m.Release) -> None:
    """Raise NotFound unless everybody may read this release: whether there is one is nobody's business."""
    if not published(m.Release.objects.filter(pk=release.pk)).exists():
        raise NotFound(translatable("There is no release at this address, or it is not public."))
