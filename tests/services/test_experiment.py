"""The experiment on exposure: switched on before labelling, decided per task, told nobody beforehand."""

from __future__ import annotations

import pytest

from annotation.core.errors import Conflict, Denied, Invalid, Locked
from annotation.core.experiment import MAX_SEED, arm_of
from annotation.models import AuditEvent, Project, Trajectory, User
from annotation.policies import OPERATOR, field_access, suggestion_policy
from annotation.reports.experiment import experiment
from annotation.services import assign, label, projects
from tests.fixtures.judges import make_imported_judge
from tests.people import Caller, Cast, change, import_records, make_member, make_record, op_id, step_indexes
from tests.suggesting import suggest

pytestmark = pytest.mark.django_db
SEED = 7


def tasks(cast: Cast, how_many: int = 12) -> dict[str, list[Trajectory]]:
    """Trajectories (two of each task, all with suggestions) by the arm that SEED puts them in."""
    rows = import_records(
        cast.project, [make_record(query, sample) for query in range(how_many) for sample in (0, 1)]
    )
    judge = make_imported_judge(cast.project)
    found: dict[str, list[Trajectory]] = {"sealed": [], "after_label": [], "always": []}
    for row in rows:
        suggest(judge, row)
        found[arm_of(SEED, "tiny", row.task.key).value].append(row)
    assert all(found.values())
    return found


def begin(user: User, trajectory: Trajectory) -> object:
    current = Trajectory.objects.get(pk=trajectory.pk)
    return assign.claim_this(actor=user, trajectory=current)


def reveal_first(user: User, trajectory: Trajectory, *, labelled: bool = False) -> int:
    """How many judges are shown for the first step."""
    assignment = assign.claim_this(actor=user, trajectory=Trajectory.objects.get(pk=trajectory.pk))
    first = step_indexes(trajectory.pk)[0]
    if labelled:
        label.save_labels(actor=user, assignment=assignment, op_id=op_id(), changes=[change(first, 1)])
    shown = label.reveal(actor=user, assignment=assignment, message_index=first)
    return len(shown[0].suggestions)


def test_arm_of_the_task_decides_whatever_the_setting_says(cast: Cast) -> None:
    rows = tasks(cast)
    projects.update_project(
        actor=cast.admin, project=cast.project, values={"suggestion_policy": "after_submit"}
    )
    projects.randomise(actor=cast.admin, project=cast.project, seed=SEED)

    with pytest.raises(Denied, match="does not show suggestions"):
        reveal_first(cast.ann, rows["sealed"][0], labelled=True)
    with pytest.raises(Conflict, match="Label this step first"):
        reveal_first(cast.ann, rows["after_label"][0])
    assert reveal_first(cast.ben, rows["after_label"][0], labelled=True) == 1
    assert reveal_first(cast.ann, rows["always"][0]) == 1


def test_arm_is_one_for_all_runs_of_a_task(cast: Cast) -> None:
    rows = tasks(cast)
    projects.randomise(actor=OPERATOR, project=cast.project, seed=SEED)
    policy = {"sealed": "never", "after_label": "after_label", "always": "always"}

    for arm, its in rows.items():
        for row in Trajectory.objects.filter(pk__in=[one.pk for one in its]):
            assert suggestion_policy(cast.ann, row) == policy[arm]
            assert field_access(cast.admin, row).suggestions == "all"
        assert len(its) == 2 * len({row.task_id for row in its})


def test_policy_takes_no_query_with_subset_and_task(cast: Cast, django_assert_num_queries: object) -> None:
    tasks(cast, 6)
    projects.randomise(actor=OPERATOR, project=cast.project, seed=SEED)
    row = Trajectory.objects.select_related("project", "subset", "task").first()
    assert row is not None

    with django_assert_num_queries(0):  # type: ignore[operator]
        suggestion_policy(cast.ann, row)


def test_experiment_switched_on_draws_a_seed_and_again_deals_anew(cast: Cast) -> None:
    tasks(cast, 6)
    seeds = [projects.randomise(actor=cast.admin, project=cast.project).experiment_seed for _ in range(2)]

    assert seeds[0] != seeds[1] and all(seed is not None and 0 <= seed <= MAX_SEED for seed in seeds)
    state = experiment(viewer=cast.admin, project=Project.objects.get(pk=cast.project.pk))
    assert (state.seed, state.locked, sum(state.tasks.values())) == (seeds[1], False, 6)
    projects.stop_randomising(actor=cast.admin, project=cast.project)
    assert Project.objects.get(pk=cast.project.pk).experiment_seed is None
    log = AuditEvent.objects.filter(verb__startswith="experiment.").order_by("pk")
    assert [(row.verb, row.detail) for row in log] == [
        ("experiment.start", {"seed": seeds[0]}),
        ("experiment.start", {"seed": seeds[1], "seed_before": seeds[0]}),
        ("experiment.stop", {"seed_before": seeds[1]}),
    ]


def test_claim_alone_locks_nothing(cast: Cast) -> None:
    begin(cast.ann, tasks(cast, 6)["sealed"][0])

    assert projects.randomise(actor=cast.admin, project=cast.project, seed=3).experiment_seed == 3


@pytest.mark.parametrize("on", [True, False])
def test_first_label_locks_it(cast: Cast, on: bool) -> None:
    rows = tasks(cast)
    if on:
        projects.randomise(actor=cast.admin, project=cast.project, seed=SEED)
    assignment = assign.claim_next(actor=cast.ann, project=cast.project)
    first = step_indexes(assignment.trajectory_id)[0]
    label.save_labels(actor=cast.ann, assignment=assignment, op_id=op_id(), changes=[change(first, 1)])

    before = AuditEvent.objects.count()
    for change_it in (projects.randomise, projects.stop_randomising) if on else (projects.randomise,):
        with pytest.raises(Locked) as refusal:
            change_it(actor=cast.admin, project=cast.project)
        assert refusal.value.code == "experiment_locked" and "already labelled here" in str(refusal.value)
    current = Project.objects.get(pk=cast.project.pk)
    assert current.experiment_seed == (SEED if on else None)
    assert AuditEvent.objects.count() == before
    assert experiment(viewer=cast.admin, project=current).locked
    # what changes nothing is no refusal
    if on:
        projects.randomise(actor=cast.admin, project=cast.project, seed=SEED)
    else:
        projects.stop_randomising(actor=cast.admin, project=cast.project)
    assert rows


def test_experiment_is_locked_by_a_look_too(cast: Cast) -> None:
    rows = tasks(cast, 6)
    projects.update_project(actor=cast.admin, project=cast.project, values={"suggestion_policy": "always"})
    assert reveal_first(cast.ann, rows["sealed"][0]) == 1

    with pytest.raises(Locked):
        projects.randomise(actor=cast.admin, project=cast.project)


@pytest.mark.parametrize("seed", [-1, MAX_SEED + 1])
def test_experiment_refuses_a_seed_out_of_range(cast: Cast, seed: int) -> None:
    with pytest.raises(Invalid):
        projects.randomise(actor=cast.admin, project=cast.project, seed=seed)


def test_experiment_is_switched_by_admins_only(cast: Cast) -> None:
    for user in (cast.ann, cast.judith, cast.oscar):
        with pytest.raises(Denied):
            projects.randomise(actor=user, project=cast.project)
        with pytest.raises(Denied):
            projects.stop_randomising(actor=user, project=cast.project)
        with pytest.raises(Denied):
            experiment(viewer=user, project=cast.project)


def test_experiment_is_switched_read_and_locked_over_the_api(cast: Cast) -> None:
    rows = tasks(cast, 6)
    admin, ann = Caller(cast.admin), Caller(cast.ann)
    path = "/projects/bench/experiment/"

    assert admin.get(path).json() == {"randomised": False, "seed": None, "locked": False, "tasks": {}}
    assert admin.post(path, {"seed": SEED}).json() == {
        "randomised": True,
        "seed": SEED,
        "locked": False,
        "tasks": {arm: len(its) // 2 for arm, its in rows.items()},
    }
    assert admin.delete(path).status_code == 204
    drawn = admin.post(path, {}).json()["seed"]
    # an annotator who knew the seed could work out every arm
    for address in ("/projects/bench/", "/projects/bench/trajectories/", "/me/"):
        assert str(drawn) not in ann.get(address).content.decode()
    begin(cast.ann, rows["sealed"][0])
    assert str(drawn) not in ann.get("/projects/bench/assignments/").content.decode()
    make_member(cast.project, cast.cleo, "annotator")
    assignment = assign.claim_next(actor=cast.cleo, project=cast.project)
    first = step_indexes(assignment.trajectory_id)[0]
    label.save_labels(actor=cast.cleo, assignment=assignment, op_id=op_id(), changes=[change(first, 1)])
    answer = admin.post(path, {})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "experiment_locked")
    assert admin.delete(path).status_code == 409
