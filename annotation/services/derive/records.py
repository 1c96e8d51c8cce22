"""Read a release and make decisions of it, in the place of a file's importer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from annotation.core.decisions.derive import Derivation
from annotation.core.decisions.questions import OPTIONS, QuestionDerivation, QuestionOptions
from annotation.core.decisions.recipes import COUNTS, TOO_FEW_LEFT, Recipe
from annotation.core.decisions.record import MAX_OPTIONS, Decision, decision_draft
from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import sha256_hex
from annotation.core.text import escape
from annotation.core.trajectories.trajectory import TrajectoryDraft
from annotation.importers import ReadContext
from annotation.importers.decisions.tristep_decision import TristepDecision
from annotation.models import ImportFile, Membership, Project, Release, ReleaseRecord

from ..release.export_dataset import damaged
from ..release.verify import decompressed
from .corrected import corrections_of
from .request import DerivationRequest
from .source_people import SourceAddress, expose_to_source, people_who_know

READ_AT_ONCE: Final = 100


class ReleaseStream:
    """The records of a release, to be read twice. `position` is in bytes of its files, of which each record
    counts alike; `on_read` is told it after each record."""

    def __init__(
        self, release: Release, size: int = 1, on_read: Callable[[int], None] = lambda position: None
    ) -> None:
        self.release = release
        self._size = size
        self._on_read = on_read
        self._read = 0

    @property
    def position(self) -> int:
        """The position of the reading."""
        return min(self._size, self._size * self._read // (2 * max(1, self.release.record_count)))

    def records(self) -> Iterator[dict[str, Any]]:
        """Every record in order. Between two readings of the database no cursor is open, so that others may
        write. Raises Conflict for a damaged one."""
        rows = ReleaseRecord.objects.filter(release=self.release).order_by("ordinal")
        at = 0
        while part := list(rows.filter(ordinal__gte=at)[:READ_AT_ONCE]):
            for row in part:
                body = decompressed(bytes(row.body))
                if body is None or sha256_hex(body) != row.sha256:
                    raise damaged(row.record_id)
                self._read += 1
                self._on_read(self.position)
                yield json.loads(body)
            at = part[-1].ordinal + 1


class PeopleLeft:
    """Counts the decisions for which fewer people are left than have to label them."""

    def __init__(self, release: Release, project: Project) -> None:
        self._release = release
        self.needed = project.annotators_per_trajectory
        members = Membership.objects.filter(project=project, is_annotator=True, user__is_active=True)
        self.annotators = set(members.order_by().values_list("user", flat=True))
        self.too_few = 0

    def count(self, sources: Mapping[str, Iterable[SourceAddress]]) -> dict[str, set[int]]:
        """Count some decisions by the sources of each; by decision the people who know one of these."""
        every = {address for addresses in sources.values() for address in addresses}
        people = people_who_know(self._release.project_id, every)
        known_by = {
            item: set[int]().union(*(people[address] for address in addresses))
            for item, addresses in sources.items()
        }
        self.too_few += sum(len(self.annotators - people) < self.needed for people in known_by.values())
        return known_by


def sources_of(decision: Decision) -> set[SourceAddress]:
    """The trajectories that the options of a decision are from."""
    return {
        (step["subset"], step["record_id"])
        for option in decision.options
        for step in option.source.get("steps", ())
    }


def derivation_of(stream: ReleaseStream, request: DerivationRequest) -> Derivation | QuestionDerivation:
    """The derivation from a release, with the corrections that there are now. One query."""
    if request.of_questions:
        options = QuestionOptions(
            options=request.most or OPTIONS,
            fewer=request.fewer,
            successful=request.successful,
            language=request.language,
        )
        return QuestionDerivation(stream.records, request.recipe, seed=request.seed, options=options)
    return Derivation(
        stream.records,
        request.recipe,
        seed=request.seed,
        most=request.most or MAX_OPTIONS,
        corrections=corrections_of(stream.release) if request.recipe is Recipe.FIRST_ERROR else None,
    )


def nothing_derived(request: DerivationRequest) -> Conflict:
    return Conflict(
        translatable(
            "Nothing can be derived from this release with the recipe “{recipe}”.", recipe=request.recipe
        ),
        code="nothing_to_derive",
    )


class DerivedRecords:
    """The reader of a derived import, in the place of an importer; and what else becomes of its records."""

    name = TristepDecision.name
    title = TristepDecision.title
    recognised_by = TristepDecision.recognised_by

    def __init__(self, source: ImportFile, on_read: Callable[[int], None]) -> None:
        self._source = source
        self._request = DerivationRequest.of_source(source)
        release = Release.objects.select_related("project").get(pk=source.derived_from["release"])
        self._left = PeopleLeft(release, source.project)
        self._sources: dict[str, set[SourceAddress]] = {}
        self.stream = ReleaseStream(release, source.size, on_read)

    def sniff(self, head: bytes) -> float:
        """No file is of this format."""
        return 0.0

    def read(self, stream: object, context: ReadContext) -> Iterator[TrajectoryDraft]:
        """Every decision of the release; at the end the counts stand in the notes. Raises Conflict when
        there is none, or when too few people are left and nobody said to go on all the same."""
        derivation = derivation_of(self.stream, self._request)
        for decision in derivation.decisions():
            draft = decision_draft(decision)
            self._sources[escape(draft.record_id)] = sources_of(decision)
            yield draft
        if not derivation.counts.items:
            raise nothing_derived(self._request)
        counts = derivation.counts.as_json(self._request.recipe)
        context.notes.update({COUNTS[name]: count for name, count in counts.items()})

    def written(self) -> None:
        """Note of those who know a source that they do, on what was made of it."""
        expose_to_source(self._source, self._left.count(self._sources))
        self._sources.clear()

    def finish(self, context: ReadContext) -> None:
        """Raises Conflict when too few people are left and nobody said to go on all the same; otherwise that
        stands in the notes."""
        if self._left.too_few and not self._request.anyway:
            raise Conflict(
                translatable(
                    "Fewer than {needed} annotators are left for {n} of the decisions, because the others "
                    "know what became of their sources; nothing was imported.",
                    needed=self._left.needed,
                    n=f"{self._left.too_few:,}",
                ),
                code="too_few_people",
            )
        context.notes[TOO_FEW_LEFT] = self._left.too_few
