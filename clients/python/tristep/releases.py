"""Releases: frozen, compared, taken home, and what models are scored on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import models as m
from .connection import Progress, Source
from .frames import frame, label_rows, model_rows
from .nouns import Items, Noun, Pages, Part, Work, quoted

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Diff(Noun):
    """What changed from another release to this one."""

    def get(self) -> m.Document:
        """Compare two releases."""
        return self._get()

    def changes(self, **query: Unpack[m.ProjectsReleasesDiffChangesListQuery]) -> Pages[m.RecordChange]:
        """List what changed between two releases."""
        return self._list("changes/", query)

    def changelog(self) -> str:
        """Download the changelog."""
        return self._bytes("changelog.md").decode()


class Diffs(Items[Diff]):
    """Comparisons with other releases, by their version."""

    _item = Diff
    _key = "version"


class PredictionSet(Noun):
    """What one model predicts of a release."""

    def get(self, **query: Unpack[m.ProjectsReleasesPredictionsRetrieveQuery]) -> m.PredictionSetDetail:
        """Read a prediction set."""
        return self._get("", query)

    def delete(self) -> None:
        """Delete a prediction set."""
        self._delete()


class Predictions(Items[PredictionSet]):
    """What models predict of a release."""

    _item = PredictionSet

    def list(self) -> Pages[m.PredictionSet]:
        """List prediction sets."""
        return self._list()

    def create(
        self,
        file: Source,
        progress: Progress | None = None,
        **options: Unpack[m.ProjectsReleasesPredictionsCreateQuery],
    ) -> m.PredictionImport:
        """Import predictions."""
        return self._upload("", file, options, progress)


class ScoredJudges(Noun):
    """The project's judges as models that are scored."""

    def list(self) -> Pages[m.JudgeCoverage]:
        """List the judges to score."""
        return self._list()

    def create(self, **fields: Unpack[m.JudgeToScoreRequest]) -> m.ScoredJudge:
        """Score a judge."""
        return self._post("", fields)


class OutsideNumbers(Noun):
    """Figures of models from elsewhere, beside those of the release."""

    def list(self) -> Pages[m.OutsideNumbers]:
        """List outside numbers."""
        return self._list()

    def update(self, **fields: Unpack[m.PatchedSetOutsideNumbersRequest]) -> Pages[m.OutsideNumbers]:
        """Set outside numbers."""
        self._patch("", fields)
        return self.list()


class Prompts(Work[m.PromptSet]):
    """The prompts of a release under one name."""

    _done = frozenset({"made"})

    def get(self) -> m.PromptSet:
        """Look at prompts."""
        return self._get()

    def records(self) -> Iterator[m.Document]:
        """Read the prompts one by one while they come."""
        return self._lines("prompts.jsonl")


class PromptSets(Items[Prompts]):
    """Prompts that ask the questions of a release."""

    _item = Prompts
    _key = "name"

    def list(self) -> Pages[m.PromptSet]:
        """List the prompts of a release."""
        return self._list()

    def create(self, **fields: Unpack[m.NewPromptsRequest]) -> m.PromptSet:
        """Make prompts of a release."""
        return self._post("", fields)


class Release(Noun):
    """One frozen release."""

    diff = Part(Diffs, "diff/")
    predictions = Part(Predictions, "predictions/")
    judges = Part(ScoredJudges, "judges/")
    outside_numbers = Part(OutsideNumbers, "outside-numbers/")
    prompts = Part(PromptSets, "prompts/")

    def get(self) -> m.ReleaseDetail:
        """Look at a release."""
        return self._get()

    def statistics(self) -> m.Document:
        """Read the statistics of a release."""
        return self._get("statistics/")

    def verify(self) -> m.Verification:
        """Verify a release."""
        return self._post("verify/")

    def withdraw(self, **fields: Unpack[m.WithdrawRequest]) -> m.ReleaseDetail:
        """Withdraw a release."""
        return self._post("withdraw/", fields)

    def public(self) -> m.PublicAddress:
        """Look at the public address of a release."""
        return self._get("public/")

    def set_public(self, **fields: Unpack[m.PatchedSetPublicAddressRequest]) -> m.PublicAddress:
        """Switch the public address of a release on or off."""
        return self._patch("public/", fields)

    def manifest(self) -> m.Document:
        """Download the manifest."""
        return self._get("manifest.json")

    def signature(self) -> bytes:
        """Download the signature."""
        return self._bytes("manifest.json.sig")

    def key(self) -> str:
        """Download the public key."""
        return self._bytes("release-key.pem").decode()

    def download(
        self,
        target: Path | str,
        progress: Progress | None = None,
        **query: Unpack[m.ProjectsReleasesAllZipRetrieveQuery],
    ) -> Path:
        """Download all files as one ZIP file, to a path or into a folder; returns where it is."""
        return self._save("all.zip", target, query, progress)

    def records(self, subset: str) -> Iterator[m.Document]:
        """Read the records of a subset one by one while they come."""
        return self._lines(f"export/{quoted(subset)}.jsonl")

    def frame(self, subset: str) -> Any:
        """The labels of a subset as a pandas frame, one label a row. Raises MissingPackage without pandas."""
        return frame(label_rows(self.records(subset))).astype({"message_index": "Int64"})

    def leaderboard_frame(self) -> Any:
        """The leaderboard as a pandas frame, one model a row. Raises MissingPackage without pandas."""
        return frame(model_rows(self.leaderboard()))

    def leaderboard(self, **query: Unpack[m.ProjectsReleasesLeaderboardRetrieveQuery]) -> m.Document:
        """Read the leaderboard."""
        return self._get("leaderboard/", query)

    def best_of_n(self) -> m.Document:
        """Read best-of-N."""
        return self._get("best-of-n/")

    def benchmark(self) -> m.Document:
        """Read the benchmark."""
        return self._get("benchmark/")

    def decisions(self, **query: Unpack[m.ProjectsReleasesDecisionsRetrieveQuery]) -> m.DerivationPreview:
        """Preview derived decisions."""
        return self._get("decisions/", query)

    def derive(self, **fields: Unpack[m.NewDerivationRequest]) -> m.Import:
        """Derive decisions."""
        return self._post("decisions/", fields)


class Releases(Items[Release]):
    """The releases of a project."""

    _item = Release
    _key = "version"

    def list(self) -> Pages[m.Release]:
        """List releases."""
        return self._list()

    def freeze(self, **fields: Unpack[m.NewReleaseRequest]) -> m.Freeze:
        """Freeze a release."""
        return self._post("", fields)


class Freeze(Work[m.Freeze]):
    """A release on its way."""

    _done = frozenset({"frozen"})

    def get(self) -> m.Freeze:
        """Follow the freezing of a release."""
        return self._get()

    def cancel(self) -> m.Freeze:
        """Stop the freezing of a release."""
        return self._post("cancel/")


class Freezes(Items[Freeze]):
    """Freezes, by id."""

    _item = Freeze
