"""Load the pending trajectories of a run, a few at a time."""

from collections import deque

from annotation.core.judging import JudgeInput
from annotation.core.vocabulary import SuggestionItemState
from annotation.models import Guideline, SuggestionItem, SuggestionRun
from annotation.reports.judging.run_selection import given_labels, incomplete

from .call_pool import PendingCall

LOADED_AT_ONCE = 16


class ItemLoader:
    """The due items of a run in their order. Only the job's own thread uses it: it reads the database."""

    def __init__(self, run: SuggestionRun) -> None:
        self._run = run
        self._ready: deque[PendingCall] = deque()
        self._last = 0
        self._all_loaded = False
        version = run.guideline_version or 0
        guideline = Guideline.objects.filter(project=run.project_id, version=version).first()
        # of nearly all judges none: then nothing more is asked of the database than the items themselves
        self._begun = incomplete(run.judge)
        self._guidelines = guideline.text if guideline is not None else ""

    @property
    def empty(self) -> bool:
        """Has everything been handed out?"""
        return self._all_loaded and not self._ready

    def peek(self) -> PendingCall | None:
        """The next one, which stays the next; None when all are handed out."""
        if not self._ready and not self._all_loaded:
            self._load()
        return self._ready[0] if self._ready else None

    def pop(self) -> PendingCall:
        """Hand the next one out."""
        return self._ready.popleft()

    def _load(self) -> None:
        rows = list(
            SuggestionItem.objects.filter(run=self._run, state=SuggestionItemState.DUE, pk__gt=self._last)
            .order_by("pk")
            .select_related("trajectory__content")
            .only("trajectory", "trajectory__content__content")[:LOADED_AT_ONCE]
        )
        begun = [row.trajectory_id for row in rows if row.trajectory_id in self._begun]
        earlier = given_labels(self._run.judge, begun) if begun else {}
        loaded = [self._due(row, earlier.get(row.trajectory_id, {})) for row in rows]
        self._ready.extend(loaded)
        if loaded:
            self._last = loaded[-1].item
        self._all_loaded = len(loaded) < LOADED_AT_ONCE

    def _due(self, item: SuggestionItem, earlier: dict[int, int]) -> PendingCall:
        judged = JudgeInput.of(
            item.trajectory.content.parsed(),
            guidelines=self._guidelines,
            with_reference=self._run.judge.with_reference,
        )
        return PendingCall(item.pk, item.trajectory_id, judged, earlier=earlier)
