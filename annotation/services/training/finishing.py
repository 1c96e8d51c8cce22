"""Consequences of the labels of a training turn, once they are in, by its purpose."""

from datetime import datetime

from annotation.core.vocabulary import RecheckKind
from annotation.models import Recheck

from . import marking, turns, tutorial


def finished(recheck: Recheck, *, now: datetime) -> None:
    """Do what follows when the labels of a turn are in. Of gold nothing follows now: what its annotator
    sends would take longer (`pauses.sweep`)."""
    if recheck.kind == RecheckKind.TUTORIAL:
        tutorial.after_item(recheck, now=now)
    elif recheck.kind == RecheckKind.TEST:
        marking.after_item(recheck, now=now)
    elif recheck.kind == RecheckKind.PILOT and recheck.annotator_id is not None:
        turns.note_sat(user=recheck.annotator_id, trajectory=recheck.trajectory, now=now)
