"""What follows when the labels of a turn at a training trajectory are in, by what it was for."""

from datetime import datetime

from annotation.core.vocabulary import RecheckKind
from annotation.models import Recheck

from . import marking, tutorial


def finished(recheck: Recheck, *, now: datetime) -> None:
    """Do what follows when the labels of a turn are in."""
    if recheck.kind == RecheckKind.TUTORIAL:
        tutorial.after_item(recheck, now=now)
    elif recheck.kind == RecheckKind.TEST:
        marking.after_item(recheck, now=now)
