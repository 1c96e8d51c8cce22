"""A trajectory with suggestions, revealed, for tests."""

from __future__ import annotations

from annotation.models import Assignment, Label, Project
from annotation.policies import OPERATOR
from annotation.reports.judging.suggestions import StepSuggestions
from annotation.services import label, projects
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast, claim, import_records, make_record
from tests.suggesting import suggest


def set_policy(project: Project, policy: str) -> None:
    projects.update_project(actor=OPERATOR, project=project, values={"suggestion_policy": policy})


def opened(cast: Cast, policy: str = "after_label", *, steps: int = 3) -> Assignment:
    """A trajectory that one judge has suggested −1 for throughout, claimed by ann."""
    set_policy(cast.project, policy)
    (row,) = import_records(cast.project, [make_record(steps=steps)])
    suggest(make_imported_judge(cast.project), row)
    return claim(cast.ann, cast.project)


def reveal(assignment: Assignment, index: int | None = None, **asked: bool) -> list[StepSuggestions]:
    return label.reveal(actor=assignment.annotator, assignment=assignment, message_index=index, **asked)


def kept(assignment: Assignment, index: int) -> tuple[int | None, int | None, bool]:
    """(value, blind value, whether exposed) of a step's stored label."""
    row = Label.objects.get(assignment=assignment, step__message_index=index)
    return row.value, row.blind_value, row.exposed_at is not None
