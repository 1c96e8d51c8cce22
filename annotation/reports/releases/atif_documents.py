"""Trajectories as ATIF documents, with their consensus."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from annotation.core.text import unescape
from annotation.core.trajectories.atif import StepLabel, document
from annotation.models import Consensus, OutcomeConsensus, Trajectory

AT_ONCE = 100


def atif_documents(trajectories: Iterable[Trajectory]) -> Iterator[dict[str, Any]]:
    """One document for each trajectory (with its content loaded), in their order. Two queries for each 100.

    For those only who may see everything: hints, reference answer and consensus are in it.
    """
    rows = iter(trajectories)
    while part := list(islice(rows, AT_ONCE)):
        labels = _labels([row.pk for row in part])
        for row in part:
            yield document(
                row.content.parsed(),
                record_id=unescape(row.record_id),
                policy_model=unescape(row.policy_model),
                labels=labels[row.pk],
            )


def _labels(pks: list[int]) -> dict[int, list[StepLabel]]:
    labels_of: dict[int, list[StepLabel]] = defaultdict(list)
    steps = Consensus.objects.filter(trajectory__in=pks).order_by("trajectory", "step__message_index")
    for pk, index, value, kind in steps.values_list("trajectory", "step__message_index", "value", "kind"):
        labels_of[pk].append(StepLabel(index, value, kind))
    outcomes = OutcomeConsensus.objects.filter(trajectory__in=pks)
    for pk, value, kind in outcomes.values_list("trajectory", "value", "kind"):
        labels_of[pk].append(StepLabel(None, value, kind))
    return labels_of
