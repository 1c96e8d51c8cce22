"""Trajectories, and what annotators do with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import models as m
from .nouns import Items, Noun, Pages, Part

if TYPE_CHECKING:
    from typing_extensions import Unpack


class ProjectTrajectories(Noun):
    """The trajectories of a project."""

    def list(self, **query: Unpack[m.ProjectsTrajectoriesListQuery]) -> Pages[m.TrajectoryRow]:
        """List trajectories."""
        return self._list("", query)


class Trajectory(Noun):
    """One trajectory."""

    def get(self, **query: Unpack[m.TrajectoriesRetrieveQuery]) -> m.Trajectory:
        """Read a trajectory."""
        return self._get("", query)

    def raw(self, **query: Unpack[m.TrajectoriesRawRetrieveQuery]) -> bytes:
        """Download the record as it came in."""
        return self._bytes("raw/", query)

    def atif(self, **query: Unpack[m.TrajectoriesAtifRetrieveQuery]) -> m.Document:
        """Export a trajectory as ATIF."""
        return self._get("atif/", query)

    def judgements(self, **query: Unpack[m.TrajectoriesJudgementsRetrieveQuery]) -> m.SideBySide:
        """Read all labels of a trajectory."""
        return self._get("judgements/", query)

    def history(self, **query: Unpack[m.TrajectoriesHistoryListQuery]) -> Pages[m.HistoryEntry]:
        """Read the history of a step."""
        return self._list("history/", query)

    def open_discussion(self) -> m.DiscussionRow:
        """Open a discussion."""
        return self._post("discussion/")

    def options(self) -> m.ItemOptions:
        """Read the options of an item."""
        return self._get("options/")

    def replace_options(self, **fields: Unpack[m.NewOptionsRequest]) -> m.ReplacedItem:
        """Replace the options of an item."""
        return self._post("options/", fields)


class Trajectories(Items[Trajectory]):
    """Trajectories, by id."""

    _item = Trajectory


class Tag(Noun):
    """One tag."""

    def rename(self, **fields: Unpack[m.PatchedTagNameRequest]) -> m.Tag:
        """Rename a tag."""
        return self._patch("", fields)

    def delete(self) -> None:
        """Delete a tag."""
        self._delete()


class Tags(Items[Tag]):
    """Tags, by id."""

    _item = Tag


class ProjectTags(Noun):
    """The tags of a project's trajectories."""

    def list(self) -> Pages[m.Tag]:
        """List tags."""
        return self._list()

    def change(self, **fields: Unpack[m.TagChangeRequest]) -> m.TagsChanged:
        """Tag trajectories."""
        return self._post("", fields)


class Reservations(Noun):
    """The places that are kept for annotators."""

    def list(self) -> Pages[m.Reservation]:
        """List what is assigned."""
        return self._list()

    def create(self, **fields: Unpack[m.NewReservationsRequest]) -> m.Reservations:
        """Assign trajectories."""
        return self._post("", fields)

    def withdraw(self, **fields: Unpack[m.ReservationsWithdrawnRequest]) -> m.Withdrawn:
        """Withdraw what is assigned."""
        return self._post("withdraw/", fields)


class Claims(Noun):
    """The unfinished claims of a project."""

    def list(self) -> Pages[m.OpenClaim]:
        """List unfinished assignments."""
        return self._list()

    def take_back(self, **fields: Unpack[m.TakeBackRequest]) -> m.TakenBack:
        """Take assignments back."""
        return self._post("take-back/", fields)


class ProjectAssignments(Noun):
    """One's own assignments in a project."""

    def list(self, **query: Unpack[m.ProjectsAssignmentsListQuery]) -> Pages[m.Assignment]:
        """List my assignments."""
        return self._list("", query)


class OwnRemarks(Noun):
    """What an annotator has written to the admins of one trajectory."""

    def list(self) -> Pages[m.Remark]:
        """List my remarks on an assignment."""
        return self._list()

    def create(self, **fields: Unpack[m.NewRemarkRequest]) -> m.Remark:
        """Write a remark."""
        return self._post("", fields)


class Assignment(Noun):
    """One's own turn at one trajectory."""

    remarks = Part(OwnRemarks, "remarks/")

    def get(self, **query: Unpack[m.AssignmentsRetrieveQuery]) -> m.AssignmentDetail:
        """Open an assignment."""
        return self._get("", query)

    def save(self, **fields: Unpack[m.SaveShapeRequest]) -> m.Saved:
        """Save labels."""
        return self._post("labels/", fields)

    def submit(self) -> m.Assignment:
        """Submit an assignment."""
        return self._post("submit/")

    def give_back(self, **fields: Unpack[m.ReturnRequest]) -> m.Assignment:
        """Give an assignment back."""
        return self._post("return/", fields)

    def resume(self) -> m.Assignment:
        """Take an assignment up again."""
        return self._post("resume/")

    def reopen(self) -> m.Assignment:
        """Take a submission back."""
        return self._post("reopen/")

    def look_again(self) -> None:
        """Look again."""
        self._post("look-again/")

    def mark(self, **fields: Unpack[m.MarksRequest]) -> m.Assignment:
        """Mark a trajectory as a whole."""
        return self._post("marks/", fields)

    def report_activity(self, **fields: Unpack[m.ActivityRequest]) -> None:
        """Report time at work."""
        self._post("activity/", fields)

    def reveals(self) -> m.Reveals:
        """Read the suggestions that I have revealed."""
        return self._get("reveals/")

    def reveal(self, **fields: Unpack[m.RevealRequest]) -> m.Reveals:
        """Reveal suggestions."""
        return self._post("reveals/", fields)

    def consensus(self) -> m.OwnConsensus:
        """Read the consensus beside my labels."""
        return self._get("consensus/")

    def feedback(self) -> m.FeedbackGiven:
        """Read the feedback I was given."""
        return self._get("feedback/")

    def give_feedback(self) -> m.FeedbackGiven:
        """Ask for feedback."""
        return self._post("feedback/")


class Assignments(Items[Assignment]):
    """Assignments, by id."""

    _item = Assignment


class Remark(Noun):
    """One remark to the admins."""

    def close(self, **fields: Unpack[m.AnswerRequest]) -> m.Remark:
        """Answer or close a remark."""
        return self._post("close/", fields)


class Remarks(Items[Remark]):
    """Remarks, by id."""

    _item = Remark


class ProjectRemarks(Noun):
    """The remarks of a project's annotators."""

    def list(self, **query: Unpack[m.ProjectsRemarksListQuery]) -> Pages[m.Remark]:
        """List remarks."""
        return self._list("", query)
