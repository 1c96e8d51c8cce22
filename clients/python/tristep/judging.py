"""Judges, their runs, and the samples on which their prompts are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import models as m
from .connection import Progress, Source
from .nouns import Items, Noun, Pages, Part, Work

if TYPE_CHECKING:
    from typing_extensions import Unpack


class JudgeSamples(Noun):
    """The samples on which prompts of a judge are tried."""

    def list(self) -> Pages[m.Sample]:
        """List a judge's samples."""
        return self._list()

    def create(self, **fields: Unpack[m.NewSampleRequest]) -> m.Sample:
        """Draw a sample."""
        return self._post("", fields)


class Judge(Noun):
    """One judge: what suggests labels."""

    samples = Part(JudgeSamples, "samples/")

    def get(self) -> m.Judge:
        """Read a judge."""
        return self._get()

    def update(self, **fields: Unpack[m.PatchedJudgeChangesRequest]) -> m.Judge:
        """Change a judge."""
        return self._patch("", fields)

    def retire(self) -> m.Judge:
        """Retire a judge."""
        return self._post("retire/")

    def restore(self) -> m.Judge:
        """Restore a judge."""
        return self._post("restore/")

    def recalibration(self, **query: Unpack[m.JudgesRecalibrationRetrieveQuery]) -> m.Recalibration:
        """Read a judge's recalibration."""
        return self._get("recalibration/", query)

    def recalibrate(self, **fields: Unpack[m.RecalibrationSwitchRequest]) -> m.Recalibration:
        """Switch a judge's recalibration."""
        return self._post("recalibration/", fields)

    def import_suggestions(
        self,
        file: Source,
        progress: Progress | None = None,
        **options: Unpack[m.JudgesSuggestionsCreateQuery],
    ) -> m.SuggestionImport:
        """Import suggestions."""
        return self._upload("suggestions/", file, options, progress)

    def propose_corrections(self, **fields: Unpack[m.NewProposalsRequest]) -> m.StoredProposals:
        """Propose corrections."""
        return self._post("corrections/", fields)


class Judges(Items[Judge]):
    """Judges, by id."""

    _item = Judge


class ProjectJudges(Noun):
    """The judges of a project."""

    def list(self) -> Pages[m.Judge]:
        """List judges."""
        return self._list()

    def create(self, **fields: Unpack[m.NewJudgeRequest]) -> m.Judge:
        """Make a judge."""
        return self._post("", fields)


class JudgesFirst(Noun):
    """Trajectories on which judges agree, settled before people label."""

    def get(self) -> m.JudgesFirst:
        """Read what judges settled."""
        return self._get()

    def settle(self, **fields: Unpack[m.ChosenJudgesRequest]) -> m.Settlement:
        """Settle what judges agree on."""
        return self._post("", fields)

    def preview(self, **fields: Unpack[m.ChosenJudgesRequest]) -> m.Settlement:
        """Preview what judges agree on."""
        return self._post("preview/", fields)

    def send_back(self, **fields: Unpack[m.SendBackRequest]) -> m.SentBack:
        """Send judged trajectories to people."""
        return self._post("send-back/", fields)


class Sample(Noun):
    """A fixed sample of resolved trajectories."""

    def get(self) -> m.SampleWithPrompts:
        """Read a sample."""
        return self._get()

    def estimate(self, **fields: Unpack[m.TrialEstimateRequest]) -> m.Estimate:
        """Estimate a trial."""
        return self._post("estimate/", fields)

    def run(self, **fields: Unpack[m.NewTrialRequest]) -> m.Run:
        """Try a prompt."""
        return self._post("runs/", fields)

    def changes(self, **query: Unpack[m.SamplesChangesListQuery]) -> Pages[m.ChangedLabel]:
        """List the labels that a prompt changes."""
        return self._list("changes/", query)


class Samples(Items[Sample]):
    """Samples, by id."""

    _item = Sample


class Run(Work[m.RunDetail]):
    """One run of a judge over trajectories."""

    _done = frozenset({"finished"})

    def get(self) -> m.RunDetail:
        """Follow a run."""
        return self._get()

    def pause(self) -> m.RunDetail:
        """Pause a run."""
        return self._post("pause/")

    def resume(self, **fields: Unpack[m.ResumeRequest]) -> m.RunDetail:
        """Go on with a run."""
        return self._post("resume/", fields)

    def cancel(self) -> m.RunDetail:
        """Cancel a run."""
        return self._post("cancel/")

    def retry(self) -> m.RunDetail:
        """Retry what failed."""
        return self._post("retry/")

    def failures(self) -> Pages[m.Failed]:
        """List what failed."""
        return self._list("failures/")


class Runs(Items[Run]):
    """Runs of judges, by id."""

    _item = Run


class ProjectRuns(Noun):
    """The runs of a project's judges."""

    def list(self, **query: Unpack[m.ProjectsRunsListQuery]) -> Pages[m.Run]:
        """List runs."""
        return self._list("", query)

    def create(self, **fields: Unpack[m.NewRunRequest]) -> m.Run:
        """Start a run."""
        return self._post("", fields)

    def estimate(self, **fields: Unpack[m.SelectionRequest]) -> m.Estimate:
        """Estimate a run."""
        return self._post("estimate/", fields)


class Answer(Noun):
    """One call of a judge as it went over the wire."""

    def get(self) -> m.Answer:
        """Read a raw answer."""
        return self._get()


class Answers(Items[Answer]):
    """Answers of judges, by id."""

    _item = Answer
