"""People who may not decide a dispute, whatever their roles."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, Q

from annotation import models as m
from annotation.core.vocabulary import ExposureKind


def barred(person: Any, trajectory: str) -> Q:
    """Whether a person had the trajectory that `trajectory` refers to to label, or knows what became of the
    runs that it was derived from: they know its key."""
    of_it = {"trajectory": OuterRef(trajectory)}
    knows = m.Exposure.objects.filter(**of_it, user=person, kind=ExposureKind.SOURCE, step__isnull=True)
    return Q(Exists(m.Assignment.stored.filter(**of_it, annotator=person))) | Q(Exists(knows))
