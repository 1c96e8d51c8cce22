"""Compare two releases of a project, and show what changed to whoever may know it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from annotation.core.agreement.figures import FIGURES
from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.releases.changelog import changelog
from annotation.core.releases.diff import RecordChange, ReleaseDiff, What
from annotation.core.releases.diff import compare as compare_outlines
from annotation.core.releases.diff_json import diff_json
from annotation.core.text import escape, unescape
from annotation.core.vocabulary import AssignmentState, ExposureKind
from annotation.models import Assignment, Project, Release, Trajectory, User
from annotation.policies import Actor, require

from .. import exposures
from .outline import outline

COMPARED = ("percent_agreement", "kappa", "quadratic_kappa")


class ShownChange(NamedTuple):
    """One change as a person sees it; `kept`: they are labelling it, and are told nothing of it."""

    change: RecordChange
    kept: bool


@dataclass(frozen=True)
class Comparison:
    """Two releases of a project, and what changed from the one to the other. `kept` are the records (subset,
    id) of which the person who asked is told nothing."""

    old: Release
    new: Release
    diff: ReleaseDiff
    kept: frozenset[tuple[str, str]]

    @cached_property
    def manifests(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The manifests of both releases."""
        return self.old.parsed_manifest(), self.new.parsed_manifest()

    def listed(self, *, what: What | None = None, subset: str = "") -> list[RecordChange]:
        """The records in which something (`what`) changed; without a choice, all of them."""
        return [
            change
            for change in self.diff.changes
            if (not subset or change.subset == subset)
            and (what is None or (what in change.what and change[:2] not in self.kept))
        ]

    def agreement(self) -> list[tuple[str, Any, Any]]:
        """(figure, before, after) of the figures of agreement, over the project at the time."""
        before, after = (_figures(manifest) for manifest in self.manifests)
        return [(key, before.get(key, {}).get("value"), after.get(key, {}).get("value")) for key in COMPARED]

    def changelog(self) -> str:
        """The changes as Markdown, for a dataset card."""
        versions = (self.old.version, self.new.version)
        agreement = [(FIGURES[key].title, was, now) for key, was, now in self.agreement()]
        return changelog(self.diff, versions=versions, agreement=agreement)


def _figures(manifest: dict[str, Any]) -> dict[str, Any]:
    figures: dict[str, Any] = manifest["agreement"]["project"]["overall"]
    return figures


def compare(*, actor: Actor, old: Release, new: Release) -> Comparison:
    """The comparison of `old` with `new`. Two queries and those of the permission, once the outlines of both
    are kept. Raises Invalid for releases of two projects, Conflict on a damaged record."""
    require(actor, "release.view", new)
    if old.project_id != new.project_id:
        raise Invalid(translatable("These are releases of different projects."), code="other_project")
    diff = compare_outlines(outline(old), outline(new))
    return Comparison(old, new, diff, _labelling(actor, new))


def _labelling(actor: Actor, release: Release) -> frozenset[tuple[str, str]]:
    """The records that a person has open as an annotator: of these they see nothing that was said."""
    if not isinstance(actor, User):
        return frozenset()
    mine = Assignment.stored.filter(
        project=release.project_id, annotator=actor, state=AssignmentState.OPEN
    ).order_by()
    rows = mine.values_list("trajectory__subset__name", "trajectory__record_id")
    return frozenset((subset, unescape(record_id)) for subset, record_id in rows)


def shown(*, actor: Actor, comparison: Comparison, changes: Sequence[RecordChange]) -> list[ShownChange]:
    """Some of the changes, as a person may see them, of added and removed records with all labels. What they
    now know of the consensus is noted first. Two queries and those of the permission, and three when
    something is seen for the first time."""
    require(actor, "release.view", comparison.new)
    whole = [change._replace(labels=comparison.diff.labels_of(change)) for change in changes]
    labelled = [change for change in whole if change.labels and change[:2] not in comparison.kept]
    if isinstance(actor, User):
        rows = _trajectories(comparison.new.project, labelled)
        exposures.expose_all(user=actor, trajectories=rows, kind=ExposureKind.CONSENSUS)
    return [
        ShownChange(change._replace(what=frozenset(), labels=()) if kept else change, kept)
        for change in whole
        for kept in (change[:2] in comparison.kept,)
    ]


def _trajectories(project: Project, changes: Iterable[RecordChange]) -> list[int]:
    keys = {(change.subset, escape(change.record_id)) for change in changes}
    rows = Trajectory.objects.filter(
        project=project, live=True, record_id__in={record_id for _, record_id in keys}
    ).order_by()
    rows_ = rows.values_list("pk", "subset__name", "record_id")
    return [pk for pk, *key in rows_ if tuple(key) in keys]


def as_json(comparison: Comparison) -> dict[str, Any]:
    """A comparison as JSON, without its changes."""
    return {
        "project": comparison.new.project.slug,
        **{
            when: {"version": release.version, "number": release.number, "digest": release.digest}
            for when, release in (("old", comparison.old), ("new", comparison.new))
        },
        **diff_json(comparison.diff),
        "agreement": {
            key: {"before": before, "after": after} for key, before, after in comparison.agreement()
        },
    }
