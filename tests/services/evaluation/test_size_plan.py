"""Plan a benchmark from published labels, and from the project's own once there are enough."""

from __future__ import annotations

import pytest

from annotation.core.errors import Denied
from annotation.core.scoring.planning import PUBLISHED
from annotation.reports.evaluation.size_plan import as_json, size_plan
from tests.callers import Caller
from tests.commands.calling import run
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast, import_records, make_unanimous
from tests.suggesting import suggest


def test_size_plan_without_data_goes_by_published_labels(cast: Cast) -> None:
    found = size_plan(viewer=cast.admin, project=cast.project)

    assert (found.from_labels, found.variance) == (False, PUBLISHED)
    assert (found.design.tasks, found.design.runs) == (100, 1.0)
    assert [size.tasks for size in found.sizes] == [50, 100, 200, 500, 1000]
    assert size_plan(viewer=cast.judith, project=cast.project, tasks=77, runs=5).design.tasks == 77
    with pytest.raises(Denied):
        size_plan(viewer=cast.ann, project=cast.project)


def test_size_plan_goes_by_resolved_tasks_that_two_judges_labelled(cast: Cast) -> None:
    rows = import_records(cast.project, 21)
    for number, name in enumerate(("one", "other")):
        judge = make_imported_judge(cast.project, name)
        for place, row in enumerate(rows):
            suggest(judge, row, 1 if place % (2 + number) else -1)
    make_unanimous(cast, 19)
    assert not size_plan(viewer=cast.admin, project=cast.project).from_labels

    make_unanimous(cast)
    found = size_plan(viewer=cast.admin, project=cast.project)

    assert (found.from_labels, found.labelled, found.design.tasks, found.design.runs) == (True, 20, 21, 1.0)
    # consensus is +1: right on all but every second, or third, task of two steps; of one run a task all
    # variance stands between tasks
    assert found.variance.difference.task > 0
    document = run("plan_benchmark", "bench", "--json").document
    assert document == Caller(cast.admin).get("/projects/bench/size-plan/").json() == as_json(found)
    assert document["from_labels"] and document["sizes"][0]["tasks"] == 21
    said = run("plan_benchmark", "bench", "--tasks", "400", "--runs", "2")
    assert "400 tasks × 2.0 runs: StepAcc ± " in said.out and "20 tasks resolved so far" in said.err
    assert Caller(cast.admin).get("/projects/bench/size-plan/?tasks=400&runs=2").json()["tasks"] == 400
    assert Caller(cast.admin).get("/projects/bench/size-plan/?tasks=1").status_code == 400
