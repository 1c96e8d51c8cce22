"""The experiment on exposure: switched on before labelling, dealt to people on tasks, told nobody."""

from __future__ import annotations

from collections import Counter

import pytest

from annotation.core.errors import Conflict, Denied, Invalid, Locked
from annotation.core.influence.experiment import MAX_SEED, arm_of
from annotation.models import Allocation, Assignment, AuditEvent, Project, Trajectory, User
from annotation.policies import OPERATOR, field_access, suggestion_policy
from annotation.reports.cases.history import history
from annotation.reports.shared.experiment import experiment
from annotation.services import adjudicate, assign, label, projects
from tests.callers import Caller
from tests.fixtures.judges import make_imported_judge
from tests.people import (
    Cast,
    change,
    decide_all,
    import_records,
    label_all,
    make_member,
    make_record,
    op_id,
    open_case,
    step_indexes,
)
from tests.suggesting import suggest

SEED = 7


def tasks(cast: Cast, how_many: int = 6) -> dict[str, list[Trajectory]]:
    """Trajectories, two of each task, all with suggestions, by the key of their task."""
    rows = import_records(
        cast.project, [make_record(query, sample) for query in range(how_many) for sample in (0, 1)]
    )
    judge = make_imported_judge(cast.project)
    found: dict[str, list[Trajectory]] = {}
    for row in rows:
        suggest(judge, row)
        found.setdefault(row.task.key, []).append(row)
    return found


def arm_on(user: User, trajectory: Trajectory) -> str:
    return Allocation.objects.get(task=trajectory.task_id, annotator=user).arm


def begin(user: User, trajectory: Trajectory) -> Assignment:
    current = Trajectory.objects.get(pk=trajectory.pk)
    return assign.claim_this(actor=user, trajectory=current)


def reveal_first(begun: Assignment, *, labelled: bool = False) -> int:
    """The number of judges shown for the first step."""
    first, user = step_indexes(begun.trajectory_id)[0], begun.annotator
    if labelled:
        label.save_labels(actor=user, assignment=begun, op_id=op_id(), changes=[change(first, 1)])
    return len(label.reveal(actor=user, assignment=begun, message_index=first)[0].suggestions)


def test_arm_of_the_person_decides_whatever_the_setting_says(cast: Cast) -> None:
    rows = tasks(cast)
    projects.update_project(
        actor=cast.admin, project=cast.project, values={"suggestion_policy": "after_submit"}
    )
    projects.randomise(actor=cast.admin, project=cast.project, seed=SEED)

    met = set()
    for first, _second in rows.values():
        for user in (cast.ann, cast.ben):
            begun, arm = begin(user, first), arm_on(user, first)
            met.add(arm)
            if arm == "sealed":
                with pytest.raises(Denied, match="does not show suggestions"):
                    reveal_first(begun, labelled=True)
            elif arm == "after_label":
                with pytest.raises(Conflict, match="Label this step first"):
                    reveal_first(begun)
                assert reveal_first(begun, labelled=True) == 1
            else:
                assert reveal_first(begun) == 1
    assert met == {"sealed", "after_label", "always"}


@pytest.mark.postgres
def test_arm_is_one_for_all_runs_of_a_task_and_another_than_that_beside_it(cast: Cast) -> None:
    rows = tasks(cast)
    projects.randomise(actor=OPERATOR, project=cast.project, seed=SEED)
    policy = {"sealed": "never", "after_label": "after_label", "always": "always"}

    for both in rows.values():
        for row in both:
            for user in (cast.ann, cast.ben):
                begin(user, row)
        current = list(Trajectory.objects.filter(pk__in=[row.pk for row in both]))
        for user in (cast.ann, cast.ben):
            assert {suggestion_policy(user, row) for row in current} == {policy[arm_on(user, both[0])]}
        assert arm_on(cast.ann, both[0]) != arm_on(cast.ben, both[0])
        assert field_access(cast.admin, current[0]).suggestions == "all"
    assert Allocation.objects.count() == 2 * len(rows)
    for user in (cast.ann, cast.ben):
        dealt = Counter(Allocation.objects.filter(annotator=user).values_list("arm", flat=True))
        assert max(dealt.values()) <= 3


def test_arm_stays_with_whoever_gives_a_trajectory_back(cast: Cast) -> None:
    row, other = tasks(cast, 1)["tiny:0"]
    projects.randomise(actor=OPERATOR, project=cast.project, seed=SEED)
    begun = assign.claim_this(actor=cast.ann, trajectory=Trajectory.objects.get(pk=row.pk))
    before = Allocation.objects.get()
    assign.return_assignment(actor=cast.ann, assignment=begun, reason="not mine")
    begin(cast.ann, other)
    assert Allocation.objects.get() == before


def test_two_arms_leave_out_the_one_in_between(cast: Cast) -> None:
    rows = tasks(cast, 4)
    projects.randomise(actor=OPERATOR, project=cast.project, seed=SEED, arms=2)
    for first, _second in rows.values():
        for user in (cast.ann, cast.ben):
            begin(user, first)
        assert {arm_on(user, first) for user in (cast.ann, cast.ben)} == {"sealed", "always"}
    state = experiment(viewer=OPERATOR, project=Project.objects.get(pk=cast.project.pk))
    assert (state.arms, state.dealt, state.tasks) == (("sealed", "always"), {"sealed": 4, "always": 4}, {})
    with pytest.raises(Invalid, match="two or three arms"):
        projects.randomise(actor=OPERATOR, project=cast.project, seed=SEED, arms=4)


def test_whoever_has_no_arm_sees_nothing(cast: Cast, django_assert_num_queries: object) -> None:
    (row, _other), *_ = tasks(cast, 1).values()
    projects.update_project(actor=cast.admin, project=cast.project, values={"suggestion_policy": "always"})
    projects.randomise(actor=OPERATOR, project=cast.project, seed=SEED)
    found = Trajectory.objects.select_related("project").get(pk=row.pk)
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert suggestion_policy(cast.ann, found) == "never"


@pytest.mark.postgres
def test_experiment_by_task_goes_on_as_it_was_begun(cast: Cast, django_assert_num_queries: object) -> None:
    """Its arms follow from the seed; nobody is dealt one."""
    rows = tasks(cast, 6)
    Project.objects.filter(pk=cast.project.pk).update(experiment_seed=SEED, experiment_unit="task")
    policy = {"sealed": "never", "after_label": "after_label", "always": "always"}
    for first, _second in rows.values():
        begin(cast.ann, first)
        row = Trajectory.objects.select_related("project", "subset", "task").get(pk=first.pk)
        with django_assert_num_queries(0):  # type: ignore[operator]
            assert suggestion_policy(cast.ann, row) == policy[arm_of(SEED, "tiny", row.task.key)]
    assert not Allocation.objects.exists()
    state = experiment(viewer=OPERATOR, project=Project.objects.get(pk=cast.project.pk))
    assert (state.unit, sum(state.tasks.values()), state.dealt) == ("task", 6, {})


def test_switching_on_deals_to_those_who_have_claimed_and_another_seed_deals_anew(cast: Cast) -> None:
    rows = tasks(cast, 6)
    for first, _second in rows.values():
        begin(cast.ann, first)
    dealt = []
    for seed in (3, 4, 3):
        projects.randomise(actor=cast.admin, project=cast.project, seed=seed)
        dealt.append(list(Allocation.objects.order_by("task").values_list("task", "arm")))
    assert len(dealt[0]) == 6 and dealt[0] == dealt[2] != dealt[1]
    projects.stop_randomising(actor=cast.admin, project=cast.project)
    assert not Allocation.objects.exists()


def test_history_tells_nobody_but_admins_that_somebody_else_looked(cast: Cast) -> None:
    """An adjudicator and, once it is resolved, the other annotator read everything else."""
    first, _second = next(iter(tasks(cast, 1).values()))
    projects.randomise(actor=OPERATOR, project=cast.project, seed=SEED, arms=2)
    for user, value in ((cast.ann, 1), (cast.ben, -1)):
        made = assign.claim_this(actor=user, trajectory=Trajectory.objects.get(pk=first.pk))
        if arm_on(user, first) == "always":
            label.reveal(actor=user, assignment=made, everything=True)
        label_all(made, value, outcome=1)
        label.submit(actor=user, assignment=made)
    case = open_case(cast.judith, first)
    row = Trajectory.objects.select_related("project", "subset", "task").get(pk=first.pk)

    def kinds(user: User) -> set[str]:
        return {entry.kind for entry in history(actor=user, trajectory=row, place="everything")[0]}

    assert "reveal" in kinds(cast.admin)
    assert "reveal" not in kinds(cast.judith) and len(kinds(cast.judith)) > 2
    looked = {user: "reveal" in kinds(user) for user in (cast.ann, cast.ben)}
    assert looked == {user: arm_on(user, first) == "always" for user in looked}
    decide_all(case, 1)
    adjudicate.close_case(actor=cast.judith, adjudication=case)
    row.refresh_from_db()
    assert looked == {user: "reveal" in kinds(user) for user in looked}


@pytest.mark.postgres
def test_experiment_switched_on_draws_a_seed_and_again_deals_anew(cast: Cast) -> None:
    tasks(cast, 6)
    seeds = [projects.randomise(actor=cast.admin, project=cast.project).experiment_seed for _ in range(2)]

    assert seeds[0] != seeds[1] and all(seed is not None and 0 <= seed <= MAX_SEED for seed in seeds)
    state = experiment(viewer=cast.admin, project=Project.objects.get(pk=cast.project.pk))
    assert (state.seed, state.locked, state.unit) == (seeds[1], False, "annotator")
    assert state.dealt == {"sealed": 0, "after_label": 0, "always": 0}
    projects.stop_randomising(actor=cast.admin, project=cast.project)
    assert Project.objects.get(pk=cast.project.pk).experiment_seed is None
    log = AuditEvent.objects.filter(verb__startswith="experiment.").order_by("pk")
    assert [(row.verb, row.detail) for row in log] == [
        ("experiment.start", {"seed": seeds[0], "arms": 3}),
        ("experiment.start", {"seed": seeds[1], "arms": 3, "seed_before": seeds[0]}),
        ("experiment.stop", {"seed_before": seeds[1]}),
    ]


def test_claim_alone_locks_nothing(cast: Cast) -> None:
    begin(cast.ann, tasks(cast, 6)["tiny:0"][0])

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
    assert reveal_first(begin(cast.ann, rows["tiny:0"][0])) == 1

    with pytest.raises(Locked):
        projects.randomise(actor=cast.admin, project=cast.project)


@pytest.mark.parametrize("seed", [-1, MAX_SEED + 1])
def test_experiment_refuses_a_seed_out_of_range(cast: Cast, seed: int) -> None:
    with pytest.raises(Invalid):
        projects.randomise(actor=cast.admin, project=cast.project, seed=seed)


def test_experiment_is_switched_read_and_locked_over_the_api(cast: Cast) -> None:
    rows = tasks(cast, 6)
    admin, ann = Caller(cast.admin), Caller(cast.ann)
    path = "/projects/bench/experiment/"

    off = {"randomised": False, "seed": None, "locked": False, "unit": None, "arms": [], "tasks": {}}
    assert admin.get(path).json() == {**off, "dealt": {}}
    on = {"randomised": True, "seed": SEED, "locked": False, "unit": "annotator", "tasks": {}}
    both = {"arms": ["sealed", "always"], "dealt": {"sealed": 0, "always": 0}}
    assert admin.post(path, {"seed": SEED, "arms": 2}).json() == {**on, **both}
    assert admin.post(path, {"arms": 1}).status_code == 400
    assert admin.delete(path).status_code == 204
    drawn = admin.post(path, {}).json()["seed"]
    # an annotator who knew the seed could work out every arm
    for address in ("/projects/bench/", "/projects/bench/trajectories/", "/me/"):
        assert str(drawn) not in ann.get(address).content.decode()
    begin(cast.ann, rows["tiny:0"][0])
    assert str(drawn) not in ann.get("/projects/bench/assignments/").content.decode()
    make_member(cast.project, cast.cleo, "annotator")
    assignment = assign.claim_next(actor=cast.cleo, project=cast.project)
    first = step_indexes(assignment.trajectory_id)[0]
    label.save_labels(actor=cast.cleo, assignment=assignment, op_id=op_id(), changes=[change(first, 1)])
    answer = admin.post(path, {})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "experiment_locked")
    assert admin.delete(path).status_code == 409
