"""The number of queries of each answer: the same for one row and for several, and pinned."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.db import connection

from annotation.models import ImportFile, ReleaseRecord, SuggestionItem, SuggestionRun, Trajectory
from annotation.services import accounts, projects, release
from tests.fixtures.judges import make_judge, start
from tests.people import (
    Cast,
    change,
    claim,
    import_records,
    jsonl,
    label_all,
    label_next,
    make_adjudicated,
    make_disputed,
    make_member,
    make_project,
    make_records,
    make_user,
    open_case,
    receive,
)

from .conftest import Callers
from .shape import queries

Fill = Callable[[Cast, int], None]
# On PostgreSQL the larger size is enough: what counts the queries is the same code.
ONE, TWO = (pytest.param(size, marks=pytest.mark.once) for size in (1, 2))


def _projects(cast: Cast, n: int) -> None:
    for number in range(n):
        make_member(make_project(f"p{number}"), cast.ann, "annotator")


def _guidelines(cast: Cast, n: int) -> None:
    for number in range(n):
        projects.write_guidelines(actor=cast.admin, project=cast.project, text=f"{number}")


def _members(cast: Cast, n: int) -> None:
    for number in range(n):
        make_member(cast.project, make_user(f"m{number}"), "annotator", "adjudicator")


def _invitations(cast: Cast, n: int) -> None:
    for _number in range(n):
        projects.invite(actor=cast.admin, project=cast.project, is_annotator=True)


def _tokens(cast: Cast, n: int) -> None:
    for number in range(n):
        accounts.issue_token(actor=cast.admin, user=cast.admin, name=f"t{number}")


def _imports(cast: Cast, n: int) -> None:
    for number in range(n):
        receive(cast.project, jsonl(make_records(1)), actor=cast.admin, subset=f"s{number}")


def _data(cast: Cast, n: int) -> None:
    for number in range(n):
        import_records(cast.project, 1, subset=f"s{number}")


def _assignments(cast: Cast, n: int) -> None:
    _data(cast, n)
    for _number in range(n):
        label_next(cast.ann, cast.project)


def _disputes(cast: Cast, n: int) -> None:
    _data(cast, n)
    make_disputed(cast, n)


def _cases(cast: Cast, n: int) -> None:
    _disputes(cast, n)
    for row in Trajectory.objects.all():
        open_case(cast.judith, row)


def _judges(cast: Cast, n: int) -> None:
    import_records(cast.project, n)
    for number in range(n):
        run = start(make_judge(cast, f"j{number}"))
        SuggestionItem.objects.filter(run=run).update(state="failed", failure="not_json", message="No.")


def _releases(cast: Cast, n: int) -> None:
    _disputes(cast, n)
    for row in Trajectory.objects.all():
        make_adjudicated(cast, row)
    for number in range(n):
        release.freeze(actor=cast.admin, project=cast.project, version=f"1.{number}")


LISTS: list[tuple[str, str, Fill, int]] = [
    ("admin", "/me/tokens/", _tokens, 3),
    ("ann", "/projects/", _projects, 3),
    ("ann", "/me/", _projects, 2),
    ("admin", "/projects/bench/guidelines/", _guidelines, 4),
    ("admin", "/projects/bench/members/", _members, 4),
    ("admin", "/projects/bench/invitations/", _invitations, 5),
    ("admin", "/projects/bench/subsets/", _data, 4),
    ("admin", "/projects/bench/imports/", _imports, 5),
    ("admin", "/projects/bench/trajectories/", _data, 7),
    ("admin", "/projects/bench/audit/", _guidelines, 5),
    ("admin", "/projects/bench/progress/", _assignments, 6),
    ("admin", "/projects/bench/board/", _assignments, 13),
    ("ann", "/projects/bench/own-work/", _assignments, 8),
    ("admin", "/projects/bench/hours/", _assignments, 5),
    ("ann", "/projects/bench/assignments/", _assignments, 4),
    ("judith", "/projects/bench/disputes/", _disputes, 5),
    ("judith", "/projects/bench/adjudications/", _cases, 4),
    ("admin", "/projects/bench/releases/", _releases, 5),
    ("admin", "/projects/bench/agreement/", _disputes, 9),
    ("admin", "/projects/bench/influence/", _disputes, 8),
    ("admin", "/projects/bench/experiment/", _disputes, 4),
    ("admin", "/projects/bench/triage/", _disputes, 5),
    ("admin", "/projects/bench/judges/", _judges, 5),
    ("admin", "/projects/bench/runs/", _judges, 5),
]


@pytest.mark.parametrize("n", [ONE, 4])
@pytest.mark.parametrize(("who", "path", "fill", "expected"), LISTS, ids=[row[1] for row in LISTS])
def test_queries_of_a_list_are_as_many_for_one_row_as_for_several(
    by: Callers, cast: Cast, who: str, path: str, fill: Fill, expected: int, n: int, judge_urls: None
) -> None:
    caller = getattr(by, who)
    fill(cast, n)
    caller.get("/me/")  # notes the use of the token, once a minute
    assert queries(lambda: caller.get(path)) == expected


@pytest.mark.parametrize("steps", [TWO, 30])
def test_assignment_takes_as_many_queries_however_long_it_is(by: Callers, cast: Cast, steps: int) -> None:
    import_records(cast.project, make_records(1, steps=steps))
    row = claim(cast.ann, cast.project)
    by.ann.get("/me/")
    assert queries(lambda: by.ann.get(f"/assignments/{row.pk}/")) == 10
    changes = [change(index, 1) for index in (2, 4)]
    body = {"op_id": "a", "changes": changes}
    saving = 6 if connection.features.has_select_for_update else 5  # the lock is a query of its own there
    assert queries(lambda: by.ann.post(f"/assignments/{row.pk}/labels/", body)) == saving
    if steps == 2:
        ok_body = {"op_id": "b", "changes": [change(None, 1)]}
        by.ann.post(f"/assignments/{row.pk}/labels/", ok_body)
        again = {"op_id": "c", "changes": [change(2, 0, version=1)]}
        assert queries(lambda: by.ann.post(f"/assignments/{row.pk}/labels/", again)) == saving
        assert queries(lambda: by.ann.post(f"/assignments/{row.pk}/submit/")) == 16


@pytest.mark.parametrize("steps", [TWO, 30])
def test_trajectory_and_its_judgements_and_case_take_as_many_however_long(
    by: Callers, cast: Cast, steps: int
) -> None:
    import_records(cast.project, make_records(1, steps=steps))
    make_disputed(cast)
    row = Trajectory.objects.get()
    case = open_case(cast.judith, row)
    for caller in (by.admin, by.judith):
        caller.get("/me/")
    assert queries(lambda: by.admin.get(f"/trajectories/{row.pk}/")) == 5
    raw, judgements = (f"/trajectories/{row.pk}/{name}/" for name in ("raw", "judgements"))
    assert queries(lambda: by.admin.get(raw)) == 9, "the first time it is noted"
    assert queries(lambda: by.admin.get(raw)) == 6
    assert queries(lambda: by.admin.get(judgements)) == 20
    assert queries(lambda: by.judith.get(f"/adjudications/{case.pk}/")) == 14
    decision = {"message_index": 2, "value": 1}
    assert queries(lambda: by.judith.post(f"/adjudications/{case.pk}/decisions/", decision)) == 11


@pytest.mark.parametrize("n", [ONE, 3])
def test_run_and_its_failures_take_as_many_queries_however_many(
    by: Callers, cast: Cast, n: int, judge_urls: None
) -> None:
    _judges(cast, n)
    run = SuggestionRun.objects.earliest("pk")
    by.admin.get("/me/")
    estimate = {"judge": run.judge_id}
    found = [
        queries(lambda: by.admin.get(f"/judges/{run.judge_id}/")),
        queries(lambda: by.admin.get(f"/runs/{run.pk}/")),
        queries(lambda: by.admin.get(f"/runs/{run.pk}/failures/")),
        queries(lambda: by.admin.post("/projects/bench/runs/estimate/", estimate)),
    ]
    assert found == [2, 6, 4, 9]


@pytest.mark.parametrize("n", [ONE, 5])
def test_claiming_takes_as_many_queries_however_much_there_is(by: Callers, cast: Cast, n: int) -> None:
    import_records(cast.project, n + 1)
    for _number in range(n):
        label_all(claim(cast.ann, cast.project))
    by.ann.get("/me/")
    # one of them asks, once the claim holds the project, whether it has an experiment now
    assert queries(lambda: by.ann.post("/projects/bench/claim/")) == 21


@pytest.mark.parametrize("n", [ONE, 4])
def test_releases_and_imports_take_as_many_queries_however_large(by: Callers, cast: Cast, n: int) -> None:
    _releases(cast, n)
    by.admin.get("/me/")
    assert queries(lambda: by.admin.get("/projects/bench/releases/1.0/")) == 4
    assert queries(lambda: by.admin.get("/projects/bench/releases/1.0/manifest.json")) == 4
    assert queries(lambda: by.admin.post("/projects/bench/releases/1.0/verify/")) == 8
    one = ReleaseRecord.objects.filter(release__version="1.0")[0]
    record = {"record_id": one.record_id, "step_labels": {"2": 1}, "final_label": 1}
    for model in range(n):
        path = f"/projects/bench/releases/1.0/predictions/?model=Sage{model}&subset={one.subset}"
        sent = by.admin.client.post(f"/api/v1{path}", json.dumps(record), content_type="application/x-ndjson")
        assert sent.status_code == 200
    assert queries(lambda: by.admin.get("/projects/bench/releases/1.0/predictions/")) == 6
    assert queries(lambda: by.admin.get("/projects/bench/releases/1.0/leaderboard/")) == 8
    assert queries(lambda: by.admin.get("/projects/bench/releases/1.0/best-of-n/")) == 9, (
        "details are not kept yet"
    )
    assert queries(lambda: by.admin.get("/projects/bench/releases/1.0/statistics/")) == 8, (
        "and are from now on"
    )
    assert queries(lambda: by.admin.get("/projects/bench/releases/1.0/best-of-n/")) == 8
    assert queries(lambda: by.admin.get("/projects/bench/releases/1.0/benchmark/")) == 7
    detail = f"/projects/bench/releases/1.0/predictions/{sent.json()['prediction_set']['id']}/"
    assert queries(lambda: by.admin.get(detail)) == 14, "what is seen for the first time is noted"
    assert queries(lambda: by.admin.get(detail)) == 11
    assert queries(lambda: by.admin.get("/projects/bench/releases/1.0/judges/")) == 12
    newest = ImportFile.objects.latest("pk")
    assert queries(lambda: by.admin.get(f"/imports/{newest.pk}/")) == 2
