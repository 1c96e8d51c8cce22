"""Projects: everything that one begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import models as m
from .connections import Connections
from .deciding import (
    Disputes,
    FirstErrors,
    ProjectAdjudications,
    ProjectCorrections,
    ProjectExamples,
    ProjectLabelAudits,
)
from .frames import figure_rows, frame
from .imports import ProjectImports
from .judging import JudgesFirst, ProjectJudges, ProjectRuns
from .labelling import (
    Claims,
    ProjectAssignments,
    ProjectRemarks,
    ProjectTags,
    ProjectTrajectories,
    Reservations,
)
from .nouns import Items, Noun, Pages, Part
from .people import CrowdLinks, Invitations, Members
from .releases import Releases
from .training import Tests, Training, Tutorial
from .webhooks import Webhooks

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Subset(Noun):
    """One subset of a project."""

    def get(self) -> m.Subset:
        """Look at a subset."""
        return self._get()

    def update(self, **fields: Unpack[m.PatchedSubsetChangeRequest]) -> m.Subset:
        """Change a subset."""
        return self._patch("", fields)


class Subsets(Items[Subset]):
    """The subsets of a project."""

    _item = Subset
    _key = "name"

    def list(self) -> Pages[m.Subset]:
        """List subsets."""
        return self._list()

    def create(self, **fields: Unpack[m.NewSubsetRequest]) -> m.Subset:
        """Create a subset."""
        return self._post("", fields)


class Guidelines(Noun):
    """The versions of a project's guidelines."""

    def list(self) -> Pages[m.Guideline]:
        """List versions of the guidelines."""
        return self._list()

    def create(self, **fields: Unpack[m.NewGuidelineRequest]) -> m.Guideline:
        """Write guidelines."""
        return self._post("", fields)


class LookAgainBatch(Noun):
    """Trajectories queued together."""

    def delete(self) -> None:
        """Take back what is queued."""
        self._delete()


class LookAgain(Items[LookAgainBatch]):
    """Finished labels that new guidelines touch."""

    _item = LookAgainBatch
    _key = "batch"

    def get(self, **query: Unpack[m.ProjectsLookAgainRetrieveQuery]) -> m.LookAgain:
        """Preview what to look at again."""
        return self._get("", query)

    def queue(self, **fields: Unpack[m.QueueRequest]) -> m.Queued:
        """Queue for another look."""
        return self._post("", fields)


class Experiment(Noun):
    """The experiment with suggestions."""

    def get(self) -> m.Experiment:
        """Look at the experiment."""
        return self._get()

    def create(self, **fields: Unpack[m.RandomisationRequest]) -> m.Experiment:
        """Randomise exposure."""
        return self._post("", fields)

    def delete(self) -> None:
        """End the experiment."""
        self._delete()


class Triage(Noun):
    """The queue sorted by what judges disagree about."""

    def get(self) -> m.Triage:
        """Look at the order of the queue."""
        return self._get()

    def create(self, **fields: Unpack[m.NewTriageRequest]) -> m.Triaged:
        """Put contested trajectories first."""
        return self._post("", fields)

    def delete(self) -> None:
        """Serve in an order of chance."""
        self._delete()


class Annotator(Noun):
    """The figures of one annotator."""

    def get(self) -> m.Document:
        """Read one annotator's figures."""
        return self._get()


class Annotators(Items[Annotator]):
    """The figures of annotators, by the id of their account."""

    _item = Annotator


class Audit(Noun):
    """The audit log of a project."""

    def list(self) -> Pages[m.AuditEvent]:
        """Read the audit log."""
        return self._list()


class Hours(Noun):
    """Active time by person and day."""

    def list(self, **query: Unpack[m.ProjectsHoursListQuery]) -> Pages[m.DayOfWork]:
        """List days of work."""
        return self._list("", query)


class Project(Noun):
    """One benchmark under construction."""

    subsets = Part(Subsets, "subsets/")
    guidelines = Part(Guidelines, "guidelines/")
    examples = Part(ProjectExamples, "examples/")
    look_again = Part(LookAgain, "look-again/")
    members = Part(Members, "members/")
    invitations = Part(Invitations, "invitations/")
    crowd_links = Part(CrowdLinks, "crowd-links/")
    imports = Part(ProjectImports, "imports/")
    trajectories = Part(ProjectTrajectories, "trajectories/")
    tags = Part(ProjectTags, "tags/")
    reservations = Part(Reservations, "reservations/")
    claims = Part(Claims, "claims/")
    assignments = Part(ProjectAssignments, "assignments/")
    remarks = Part(ProjectRemarks, "remarks/")
    annotators = Part(Annotators, "annotators/")
    disputes = Part(Disputes, "disputes/")
    adjudications = Part(ProjectAdjudications, "adjudications/")
    corrections = Part(ProjectCorrections, "corrections/")
    first_errors = Part(FirstErrors, "first-errors/")
    label_audits = Part(ProjectLabelAudits, "label-audits/")
    judges = Part(ProjectJudges, "judges/")
    judges_first = Part(JudgesFirst, "judges-first/")
    runs = Part(ProjectRuns, "runs/")
    experiment = Part(Experiment, "experiment/")
    triage = Part(Triage, "triage/")
    tutorial = Part(Tutorial, "tutorial/")
    tests = Part(Tests, "tests/")
    training = Part(Training, "training/")
    releases = Part(Releases, "releases/")
    hours = Part(Hours, "hours/")
    audit = Part(Audit, "audit/")
    connections = Part(Connections, "connections/")
    webhooks = Part(Webhooks, "webhooks/")

    def get(self) -> m.Project:
        """Look at a project."""
        return self._get()

    def update(self, **fields: Unpack[m.PatchedProjectChangeRequest]) -> m.Project:
        """Change a project's settings."""
        return self._patch("", fields)

    def progress(self) -> m.Progress:
        """Follow the progress."""
        return self._get("progress/")

    def board(self) -> m.Board:
        """Follow the work."""
        return self._get("board/")

    def own_work(self) -> m.OwnWork:
        """Look at my work."""
        return self._get("own-work/")

    def claim(self, **fields: Unpack[m.ClaimRequest]) -> m.Assignment:
        """Claim the next trajectory."""
        return self._post("claim/", fields)

    def take_audit_case(self) -> m.TakenCase:
        """Take a case of an audit."""
        return self._post("audit-cases/")

    def search(self, **query: Unpack[m.ProjectsSearchListQuery]) -> Pages[m.Found]:
        """Search in a project."""
        return self._list("search/", query)

    def agreement(self, **query: Unpack[m.ProjectsAgreementRetrieveQuery]) -> m.Document:
        """Read agreement figures."""
        return self._get("agreement/", query)

    def agreement_frame(self, **query: Unpack[m.ProjectsAgreementRetrieveQuery]) -> Any:
        """Agreement as a pandas frame, one figure a row. Raises MissingPackage without pandas."""
        return frame(figure_rows(self.agreement(**query)))

    def agreement_steps(self, **query: Unpack[m.ProjectsAgreementStepsListQuery]) -> Pages[m.LabelsOfStep]:
        """List the steps behind a number."""
        return self._list("agreement/steps/", query)

    def label_quality(self) -> m.Document:
        """Read label quality."""
        return self._get("label-quality/")

    def influence(self) -> m.Document:
        """Read influence figures."""
        return self._get("influence/")

    def size_plan(self, **query: Unpack[m.ProjectsSizePlanRetrieveQuery]) -> m.Document:
        """Plan the size of the benchmark."""
        return self._get("size-plan/", query)


class Projects(Items[Project]):
    """The projects that one is a member of."""

    _item = Project
    _key = "slug"

    def list(self) -> Pages[m.Project]:
        """List projects."""
        return self._list()

    def create(self, **fields: Unpack[m.NewProjectRequest]) -> m.Project:
        """Create a project."""
        return self._post("", fields)
