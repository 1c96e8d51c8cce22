"""How people learn, prove it and are checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import models as m
from .nouns import Items, Noun, Pages, Part

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Attempt(Noun):
    """One attempt at a proficiency test."""

    def get(self) -> m.AttemptResult:
        """Read the result of an attempt."""
        return self._get()

    def stop(self) -> m.Attempt:
        """Stop an attempt."""
        return self._post("stop/")

    def grant(self) -> m.Attempt:
        """Grant another attempt."""
        return self._post("grant/")


class Attempts(Items[Attempt]):
    """Attempts at tests, by id."""

    _item = Attempt


class TestAttempts(Noun):
    """The attempts at one test."""

    def list(self) -> Pages[m.Attempt]:
        """List attempts at a test."""
        return self._list()

    def create(self) -> m.Attempt:
        """Begin an attempt."""
        return self._post()


class Test(Noun):
    """One proficiency test."""

    attempts = Part(TestAttempts, "attempts/")

    def get(self) -> m.TestDetail:
        """Look at a proficiency test."""
        return self._get()

    def update(self, **fields: Unpack[m.PatchedTestChangeRequest]) -> m.ProficiencyTest:
        """Change a proficiency test."""
        return self._patch("", fields)

    def set_opens(self, **fields: Unpack[m.OpensRequest]) -> None:
        """Open a subset by a test."""
        self._post("opens/", fields)

    def standing(self) -> m.Standing:
        """See where I stand before a test."""
        return self._get("standing/")


class Tests(Items[Test]):
    """The proficiency tests of a project."""

    _item = Test
    _key = "number"

    def list(self) -> Pages[m.ProficiencyTest]:
        """List proficiency tests."""
        return self._list()

    def create(self, **fields: Unpack[m.NewTestRequest]) -> m.ProficiencyTest:
        """Make a proficiency test."""
        return self._post("", fields)

    def proposal(self, **query: Unpack[m.ProjectsTestsProposalRetrieveQuery]) -> m.ProposedItems:
        """Propose items for a test."""
        return self._get("proposal/", query)


class Tutorial(Noun):
    """The tutorial of a project."""

    def get(self) -> m.Tutorial:
        """Read the tutorial's items."""
        return self._get()

    def set(self, **fields: Unpack[m.NewTutorialRequest]) -> m.Tutorial:
        """Set the tutorial."""
        return self._post("", fields)


class TrainingItems(Noun):
    """The keyed trajectories of a training subset."""

    def list(self) -> Pages[m.TrainingItem]:
        """List training items."""
        return self._list()

    def create(self, **fields: Unpack[m.ItemsOfResolvedRequest]) -> m.TrainingItemsMade:
        """Make training items."""
        return self._post("", fields)


class TrainingSubset(Noun):
    """One training subset."""

    items = Part(TrainingItems, "items/")

    def delete(self) -> None:
        """Put a training subset into the queue."""
        self._delete()


class TrainingSubsets(Items[TrainingSubset]):
    """The training subsets of a project."""

    _item = TrainingSubset
    _key = "name"

    def list(self) -> Pages[m.TrainingSubset]:
        """List training subsets."""
        return self._list()

    def create(self, **fields: Unpack[m.NewTrainingSubsetRequest]) -> m.TrainingSubset:
        """Make a training subset."""
        return self._post("", fields)


class Gold(Noun):
    """Keyed trajectories among what annotators claim."""

    def list(self) -> Pages[m.AnnotatorGold]:
        """Read accuracy on gold."""
        return self._list()

    def create(self, **fields: Unpack[m.NewGoldRequest]) -> m.GoldMade:
        """Mix in gold."""
        return self._post("", fields)


class Pilot(Noun):
    """The few trajectories that everybody labels first."""

    def get(self) -> m.Pilot:
        """Read the newest pilot."""
        return self._get()

    def create(self, **fields: Unpack[m.NewPilotRequest]) -> m.Pilot:
        """Begin a pilot."""
        return self._post("", fields)

    def open_queue(self) -> None:
        """Open the queue."""
        self._delete()


class Training(Noun):
    """How a project's people learn and are checked."""

    subsets = Part(TrainingSubsets, "subsets/")
    gold = Part(Gold, "gold/")
    pilot = Part(Pilot, "pilot/")

    def bring_examples(self, **fields: Unpack[m.NewTrainingExamplesRequest]) -> m.Import:
        """Add the training examples."""
        return self._post("examples/", fields)


class KeyedItem(Noun):
    """One keyed trajectory."""

    def key(self) -> m.TrainingKey:
        """Show the key of a training item."""
        return self._get("key/")


class KeyedItems(Items[KeyedItem]):
    """Keyed trajectories, by id."""

    _item = KeyedItem
