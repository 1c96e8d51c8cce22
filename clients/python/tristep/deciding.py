"""Cases, discussions, corrections and audits: what becomes of labels that differ or are doubted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import models as m
from .nouns import Items, Noun, Pages

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Disputes(Noun):
    """The trajectories whose labels differ."""

    def list(self, **query: Unpack[m.ProjectsDisputesListQuery]) -> Pages[m.Dispute]:
        """List disputes."""
        return self._list("", query)

    def assign(self, **fields: Unpack[m.NewAssignmentRequest]) -> m.AssignedCases:
        """Assign disputes."""
        return self._post("assign/", fields)


class ProjectAdjudications(Noun):
    """The cases of a project."""

    def list(self) -> Pages[m.CaseRow]:
        """List cases."""
        return self._list()

    def create(self, **fields: Unpack[m.NewCaseRequest]) -> m.Case:
        """Take a dispute."""
        return self._post("", fields)

    def take_back(self, **fields: Unpack[m.CasesTakenBackRequest]) -> m.ReleasedCases:
        """Take cases back."""
        return self._post("take-back/", fields)


class Adjudication(Noun):
    """The case that resolves one disputed trajectory."""

    def get(self, **query: Unpack[m.AdjudicationsRetrieveQuery]) -> m.CaseDetail:
        """Read a case."""
        return self._get("", query)

    def decide(self, **fields: Unpack[m.NewDecisionRequest]) -> m.Decision:
        """Decide."""
        return self._post("decisions/", fields)

    def take_majority(self, **fields: Unpack[m.NewMajorityRequest]) -> m.Decision:
        """Let the majority stand."""
        return self._post("majority/", fields)

    def withdraw(self, **fields: Unpack[m.WithdrawalRequest]) -> m.Case:
        """Take a decision back."""
        return self._post("withdraw/", fields)

    def close(self, **fields: Unpack[m.CloseRequest]) -> m.Case:
        """Close a case."""
        return self._post("close/", fields)

    def hand_back(self) -> m.Case:
        """Hand a case back."""
        return self._post("release/")

    def reopen(self) -> m.CaseRow:
        """Open a decided case again."""
        return self._post("reopen/")

    def reveals(self) -> m.Reveals:
        """Read the suggestions revealed in a case."""
        return self._get("reveals/")

    def reveal(self, **fields: Unpack[m.RevealRequest]) -> m.Reveals:
        """Reveal suggestions in a case."""
        return self._post("reveals/", fields)


class Adjudications(Items[Adjudication]):
    """Cases, by id."""

    _item = Adjudication


class Discussion(Noun):
    """The discussion of one trajectory."""

    def get(self) -> m.Discussion:
        """Read a discussion."""
        return self._get()

    def comment(self, **fields: Unpack[m.NewCommentRequest]) -> m.Said:
        """Comment."""
        return self._post("comments/", fields)

    def mark_read(self, **fields: Unpack[m.ReadingRequest]) -> m.LastRead:
        """Mark a thread as read."""
        return self._post("read/", fields)

    def revise(self, **fields: Unpack[m.NewRevisionRequest]) -> m.Revised:
        """Change my mind."""
        return self._post("revisions/", fields)


class Discussions(Items[Discussion]):
    """Discussions, by id."""

    _item = Discussion


class Comment(Noun):
    """One comment of a discussion."""

    def retract(self) -> m.Said:
        """Take a comment back."""
        return self._post("retract/")


class Comments(Items[Comment]):
    """Comments, by id."""

    _item = Comment


class Example(Noun):
    """One example of the guidelines."""

    def delete(self) -> None:
        """Remove an example."""
        self._delete()


class Examples(Items[Example]):
    """Examples, by id."""

    _item = Example


class ProjectExamples(Noun):
    """The decided steps that the guidelines show."""

    def list(self) -> Pages[m.Example]:
        """List examples."""
        return self._list()

    def create(self, **fields: Unpack[m.NewExampleRequest]) -> m.Marked:
        """Mark an example."""
        return self._post("", fields)


class Correction(Noun):
    """What would have been right in the place of a first error."""

    def get(self, **query: Unpack[m.CorrectionsRetrieveQuery]) -> m.CorrectionDetail:
        """Read a correction."""
        return self._get("", query)

    def save(self, **fields: Unpack[m.CorrectionDraftRequest]) -> m.Correction:
        """Save a correction."""
        return self._post("", fields)

    def check(self, **fields: Unpack[m.ActionRequest]) -> m.Checked:
        """Check an action."""
        return self._post("check/", fields)

    def proposals(self) -> m.Revealed:
        """Reveal judges' proposals."""
        return self._post("proposals/")

    def withdraw(self) -> m.Correction:
        """Withdraw a correction."""
        return self._post("withdraw/")

    def restore(self) -> m.Correction:
        """Restore a correction."""
        return self._post("restore/")


class Corrections(Items[Correction]):
    """Corrections, by id."""

    _item = Correction


class ProjectCorrections(Noun):
    """The corrections of a project."""

    def list(self, **query: Unpack[m.ProjectsCorrectionsListQuery]) -> Pages[m.Correction]:
        """List corrections."""
        return self._list("", query)

    def create(self, **fields: Unpack[m.NewCorrectionRequest]) -> m.Correction:
        """Take a first error."""
        return self._post("", fields)


class FirstErrors(Noun):
    """The first errors that wait for a correction."""

    def list(self) -> Pages[m.FirstError]:
        """List first errors to correct."""
        return self._list()


class LabelAudit(Noun):
    """One audit of a project's labels."""

    def draw(self, **fields: Unpack[m.MoreDrawsRequest]) -> m.LabelAudit:
        """Add draws to an audit."""
        return self._post("draws/", fields)

    def end(self) -> m.LabelAudit:
        """End an audit of labels."""
        return self._post("end/")


class LabelAudits(Items[LabelAudit]):
    """Audits of labels, by id."""

    _item = LabelAudit


class ProjectLabelAudits(Noun):
    """The audits of a project's labels."""

    def list(self) -> Pages[m.LabelAudit]:
        """List audits of labels."""
        return self._list()

    def create(self, **fields: Unpack[m.NewLabelAuditRequest]) -> m.LabelAudit:
        """Begin an audit of labels."""
        return self._post("", fields)

    def plan(self, **query: Unpack[m.ProjectsLabelAuditsPlanRetrieveQuery]) -> m.AuditPlan:
        """Plan an audit of labels."""
        return self._get("plan/", query)


class AuditCase(Noun):
    """One trajectory of an audit, judged anew."""

    def get(self, **query: Unpack[m.AuditCasesRetrieveQuery]) -> m.AuditCase:
        """Read a case of an audit."""
        return self._get("", query)

    def decide(self, **fields: Unpack[m.AuditRulingsRequest]) -> m.DecidedCase:
        """Decide a case of an audit."""
        return self._post("", fields)


class AuditCases(Items[AuditCase]):
    """Cases of audits, by id."""

    _item = AuditCase
