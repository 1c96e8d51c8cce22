"""The unlabelled part of a release: trajectories that judges have labelled and nobody else.

Figures of models gain by it (core.scoring.prediction_powered) as long as what people have labelled is a
sample of everything, and judges were asked about both alike. So a project whose queue was ever put in the
order of the judges' disagreement has none; and the part holds what every judge has been asked about that was
asked about all of the release as well. Judges that were trained on the project's labels take no part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q

from annotation.core.i18n import translatable
from annotation.core.judging.kinds import KINDS
from annotation.core.scoring.stack import FEWEST_JUDGES
from annotation.core.text import unescape
from annotation.core.vocabulary import SuggestionItemState, TrajectoryState
from annotation.models import Assignment, Judge, Project, Suggestion, SuggestionItem, Trajectory

TRIAGED = translatable(
    "the queue was put in the order of the judges’ disagreement, so people’s labels are no sample"
)
FEW_JUDGES = translatable(
    "fewer than two judges have labelled all of the release and other trajectories besides"
)
WORTH_A_JUDGE = 0.5
"""A further judge is worth having as long as this share of the trajectories of two remains."""


@dataclass(frozen=True, slots=True)
class UnlabelledPart:
    """Record ids by subset, and how many `judges` have labelled all of them; or the `reason` for there being
    none."""

    judges: int = 0
    reason: str = ""
    subsets: dict[str, list[str]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The entry of the manifest."""
        records = sum(len(ids) for ids in self.subsets.values())
        return {"records": records, "judges": self.judges, "reason": self.reason, "subsets": self.subsets}


def unlabelled_part(project: Project, released: Collection[int], subsets: Collection[str]) -> UnlabelledPart:
    """The part of a release of these trajectories (pks) of these subsets. One query, two a judge, and one
    where there are enough of these."""
    if project.triage_seed is not None:
        return UnlabelledPart(reason=TRIAGED)
    asked = [pks for pks in askings(project) if pks.issuperset(released)]
    if len(asked) < FEWEST_JUDGES:
        return UnlabelledPart(reason=FEW_JUDGES)
    # of a large project most is unbegun: held is what a judge was asked about
    by_any = set().union(*asked)
    rows = unbegun(project, subsets).order_by("subset__name", "pk")
    listed = rows.values_list("pk", "subset__name", "record_id").iterator()
    names = {pk: (subset, name) for pk, subset, name in listed if pk in by_any}
    common, judges = _common(sorted((pks & names.keys() for pks in asked), key=len, reverse=True))
    if not common:
        return UnlabelledPart(reason=FEW_JUDGES)
    part: dict[str, list[str]] = {}
    for pk, (subset, name) in names.items():
        if pk in common:
            part.setdefault(subset, []).append(unescape(name))
    return UnlabelledPart(judges, subsets=part)


def unbegun(project: Project, subsets: Collection[str]) -> Any:
    """The trajectories of these subsets that nobody has ever begun to label."""
    begun = Assignment.objects.filter(trajectory=OuterRef("pk"))
    return Trajectory.objects.filter(
        ~Exists(begun),
        project=project,
        live=True,
        state=TrajectoryState.LABELLING,
        subset__name__in=subsets,
    )


def stacked_judges(project: int) -> list[Judge]:
    """The judges of a project that may take part in the stack: those that no label of people has trained."""
    rows = Judge.objects.filter(project=project).order_by("pk")
    return [judge for judge in rows if not KINDS[judge.kind].trained]


def askings(project: Project) -> Iterator[set[int]]:
    """Of each judge the trajectories that it was asked about, in vain or not."""
    for judge in stacked_judges(project.pk):
        yield asked_about(judge)


def asked_about(judge: Judge, until: datetime | None = None) -> set[int]:
    """The trajectories that a judge was asked about, up to a moment."""
    before = Q() if until is None else Q(created_at__lt=until)
    suggestions = Suggestion.objects.filter(before, judge=judge).order_by()
    failed = SuggestionItem.objects.filter(
        run__judge=judge, run__options=None, state=SuggestionItemState.FAILED
    ).order_by()
    return {*suggestions.values_list("trajectory", flat=True), *failed.values_list("trajectory", flat=True)}


def _common(asked: list[set[int]]) -> tuple[set[int], int]:
    """The trajectories that judges have in common, the most diligent judge first, as long as a further one
    does not cost too many."""
    if len(asked) < FEWEST_JUDGES:
        return set(), 0
    two = set.intersection(*asked[:FEWEST_JUDGES])
    common, judges = two, FEWEST_JUDGES
    for number in range(FEWEST_JUDGES + 1, len(asked) + 1):
        fewer = common & asked[number - 1]
        if len(fewer) < WORTH_A_JUDGE * len(two):
            break
        common, judges = fewer, number
    return common, judges
