"""Load the pending trajectories of a run, a few at a time."""

from collections import deque
from collections.abc import Mapping

from annotation.core.judging import JudgeInput
from annotation.core.vocabulary import SuggestionItemState
from annotation.models import Guideline, SuggestionItem, SuggestionRun
from annotation.reports.judging.run_selection import given_labels, incomplete
from annotation.reports.judging.short_questions import writing_of
from annotation.reports.releases.prompts import prompts_of

from .call_pool import PendingCall
from .distractors import drop_unfit

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
        while not self._ready and not self._all_loaded:
            self._load()
        return self._ready[0] if self._ready else None

    def pop(self) -> PendingCall:
        """Hand the next one out."""
        return self._ready.popleft()

    def _load(self) -> None:
        due = SuggestionItem.objects.filter(run=self._run, state=SuggestionItemState.DUE, pk__gt=self._last)
        contents = ("trajectory__content__content", "trajectory__content__source_labels")
        rows = list(
            due.order_by("pk")
            .select_related("trajectory__content")
            .only("run", "trajectory", *(contents if self._run.options is not None else contents[:1]))[
                :LOADED_AT_ONCE
            ]
        )
        if self._run.prompts is not None:
            if rows:
                texts = prompts_of(self._run.prompts, [row.trajectory_id for row in rows])
                self._ready.extend(self._prompt(row, texts) for row in rows)
        elif self._run.options is None:
            begun = [row.trajectory_id for row in rows if row.trajectory_id in self._begun]
            earlier = given_labels(self._run.judge, begun) if begun else {}
            self._ready.extend(self._due(row, earlier.get(row.trajectory_id, {})) for row in rows)
        elif rows:
            unfit = drop_unfit(self._run, rows)
            self._ready.extend(self._question(row) for row in rows if row.pk not in unfit)
        if rows:
            self._last = rows[-1].pk
        self._all_loaded = len(rows) < LOADED_AT_ONCE

    def _prompt(self, item: SuggestionItem, texts: Mapping[int, str]) -> PendingCall:
        """A prompt that is sent as it stands."""
        material = JudgeInput.of(item.trajectory.content.parsed())
        return PendingCall(item.pk, item.trajectory_id, material, prompt=texts[item.trajectory_id])

    def _question(self, item: SuggestionItem) -> PendingCall:
        """A question for which distractors are wanted. The project's guidelines are about labels."""
        assert self._run.options is not None
        content = item.trajectory.content
        material = JudgeInput.of(content.parsed())
        writing = writing_of(material, content.labels_of_source(), self._run.options)
        return PendingCall(item.pk, item.trajectory_id, material, writing=writing)

    def _due(self, item: SuggestionItem, earlier: dict[int, int]) -> PendingCall:
        judged = JudgeInput.of(
            item.trajectory.content.parsed(),
            guidelines=self._guidelines,
            with_reference=self._run.judge.with_reference,
        )
        return PendingCall(item.pk, item.trajectory_id, judged, earlier=earlier)
