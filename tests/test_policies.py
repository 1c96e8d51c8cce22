"""Permission to see rows and fields and to act: role by role, and closed by default."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.db.models import BigIntegerField, Model
from django.test.utils import CaptureQueriesContext

from annotation import models as m
from annotation import policies
from annotation.core.errors import Denied
from annotation.policies import OPERATOR, allowed, field_access, lookups, require, visible
from annotation.policies.lookups import Lookup
from annotation.services import accounts, adjudicate, assign, label, projects, release
from tests import people
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast

EVERYBODY = ("admin", "ann", "ben", "cleo", "judith", "oscar", "root")
BLIND: tuple[Any, ...] = (m.Assignment, m.Label, m.OutcomeLabel, m.LabelEvent)
RESOLVED: tuple[Any, ...] = (m.Consensus, m.OutcomeConsensus)
SUGGESTED: tuple[Any, ...] = (m.Suggestion, m.SuggestedLabel)


def seen(user: Any, model: type[Model]) -> list[Any]:
    return list(visible(user, model._default_manager.all()))


@shared_rows
def line(cast: Cast) -> SimpleNamespace:
    """Four trajectories: unanimous (ann, ben), adjudicated by judith, disputed, and one that ann has open
    and cleo has submitted. Judges have suggested something for the last."""
    rows = people.import_records(cast.project, 4)
    people.make_unanimous(cast, 1)
    people.make_disputed(cast, 2)
    people.make_adjudicated(cast, rows[1])
    ann_open = people.claim(cast.ann, cast.project)
    label.save_labels(
        actor=cast.ann, assignment=ann_open, op_id="draft", changes=[people.change(2, 1, note="Mine.")]
    )
    position = rows[3].position
    m.Membership.objects.filter(user=cast.cleo).update(claim_cursor=position)
    cleo_done = people.label_next(cast.cleo, cast.project, -1, outcome=-1, note="Cleo's.")
    assert cleo_done.trajectory_id == ann_open.trajectory_id
    judge = m.Judge.objects.create(
        project=cast.project, name="judge", kind="imported", created_at=ann_open.claimed_at
    )
    suggestion = m.Suggestion.objects.create(
        judge=judge, trajectory=rows[3], outcome=-1, created_at=ann_open.claimed_at
    )
    m.SuggestedLabel.objects.create(suggestion=suggestion, step=rows[3].steps.all()[0], value=-1)
    return SimpleNamespace(rows=rows, ann_open=ann_open, cleo_done=cleo_done)


def owners(rows: Iterable[Any]) -> set[int]:
    return {row.annotator_id for row in rows}


# ── Closed by default ─────────────────────
@pytest.mark.parametrize("model", [m.SaveOperation, m.TrajectoryContent, m.Decision, m.Step, m.Task])
def test_model_without_a_rule_is_an_error_even_for_the_operator(cast: Cast, model: type[Model]) -> None:
    for user in (OPERATOR, cast.root, cast.admin, AnonymousUser()):
        with pytest.raises(LookupError):
            visible(user, model._default_manager.all())


@pytest.mark.parametrize("model", sorted(policies.VISIBLE, key=str))
def test_nothing_is_seen_by_strangers_and_people_who_have_left(
    line: SimpleNamespace, cast: Cast, model: type[Model]
) -> None:
    m.User.objects.filter(pk__in=[cast.admin.pk, cast.root.pk]).update(is_active=False)
    for user in (AnonymousUser(), None, *m.User.objects.filter(is_active=False)):
        assert seen(user, model) == []


@pytest.mark.parametrize("model", sorted(set(policies.VISIBLE) - {m.User, m.ApiToken}, key=str))
def test_project_shows_nothing_to_who_has_no_part_in_it(
    line: SimpleNamespace, cast: Cast, model: type[Model]
) -> None:
    other = people.make_project("other")
    people.make_member(other, cast.oscar, "annotator", "adjudicator", "admin")

    rows = [row for row in seen(cast.oscar, model) if row not in (other,)]
    ours = [row for row in rows if getattr(row, "project_id", other.pk) != other.pk]

    assert ours == []
    if model not in (m.Project, m.Guideline, m.Membership, m.AuditEvent):
        assert rows == []


@pytest.mark.parametrize("who", [*EVERYBODY, "operator", "nobody"])
@pytest.mark.parametrize("verb", ["", "label.all", "release.edit", "superuser"])
def test_verb_that_is_unknown_is_refused_to_everybody(cast: Cast, who: str, verb: str) -> None:
    actor: Any = {**cast.everybody, "operator": OPERATOR, "nobody": AnonymousUser()}[who]

    assert not allowed(actor, verb, cast.project)
    with pytest.raises(Denied):
        require(actor, verb, cast.project)


def test_verbs_need_their_roles(cast: Cast) -> None:
    holders = {"admin": "admin", "annotator": "ann", "adjudicator": "judith"}
    for verb, wanted in policies.VERBS.items():
        for role, name in holders.items():
            expected = role in {one.value for one in wanted}
            assert allowed(cast.everybody[name], verb, cast.project) is expected, (verb, name)
        assert not allowed(cast.oscar, verb, cast.project)
        assert not allowed(AnonymousUser(), verb, cast.project)
        assert not allowed(cast.admin, verb, None)


def test_operator_and_superusers_never_label_claim_or_adjudicate(cast: Cast) -> None:
    for verb in ("label", "claim", "adjudicate"):
        assert not allowed(OPERATOR, verb, cast.project)
        assert not allowed(cast.root, verb, cast.project)


def test_accounts_are_made_by_superusers_and_changed_by_their_owners(cast: Cast) -> None:
    assert allowed(cast.root, "account.create") and allowed(OPERATOR, "account.create")
    assert not allowed(cast.admin, "account.create")
    assert allowed(cast.ann, "account.change", cast.ann)
    assert not allowed(cast.admin, "account.change", cast.ann)
    assert not allowed(cast.ann, "token.change", cast.ben)


# ── Blindness ─────────────────────────────
def test_annotators_see_their_own_labels_and_nobody_elses(line: SimpleNamespace, cast: Cast) -> None:
    for user in (cast.ann, cast.ben, cast.cleo):
        assert owners(seen(user, m.Assignment)) == {user.pk}
        for kind in BLIND[1:]:
            assert owners(row.assignment for row in seen(user, kind)) == {user.pk}
        for model in (*RESOLVED, *SUGGESTED, m.Judge, m.Adjudication, m.Release, m.AuditEvent, m.ImportFile):
            assert seen(user, model) == []


def test_annotators_see_only_trajectories_they_have(line: SimpleNamespace, cast: Cast) -> None:
    assert set(seen(cast.cleo, m.Trajectory)) == {line.rows[3]}
    assert set(seen(cast.ann, m.Trajectory)) == set(line.rows)
    assert seen(cast.oscar, m.Trajectory) == []
    assign.return_assignment(actor=cast.ann, assignment=line.ann_open, reason="No.")
    assert set(seen(cast.ann, m.Trajectory)) == set(line.rows[:3])


def test_adjudicator_sees_the_labels_of_their_own_cases_only(line: SimpleNamespace, cast: Cast) -> None:
    assert set(seen(cast.judith, m.Trajectory)) == {line.rows[1], line.rows[2]}
    of_cases = {row.assignment.trajectory_id for row in seen(cast.judith, m.Label)}
    assert of_cases == {line.rows[1].pk}

    case = people.open_case(cast.judith, line.rows[2])
    assert {row.assignment.trajectory_id for row in seen(cast.judith, m.Label)} == {
        line.rows[1].pk,
        line.rows[2].pk,
    }
    assert {row.trajectory_id for row in seen(cast.judith, m.Consensus)} == {line.rows[1].pk}

    adjudicate.release_case(actor=cast.judith, adjudication=case)
    assert {row.assignment.trajectory_id for row in seen(cast.judith, m.Label)} == {line.rows[1].pk}
    assert seen(cast.judith, m.Suggestion) == []


def test_admin_sees_everything(line: SimpleNamespace, cast: Cast) -> None:
    for model in (m.Trajectory, *BLIND, *RESOLVED, *SUGGESTED, m.Judge, m.Adjudication):
        assert len(seen(cast.admin, model)) == model._default_manager.count() > 0


@pytest.mark.parametrize("who", ["admin", "root"])
def test_admin_with_an_open_assignment_sees_that_trajectory_as_an_annotator(
    line: SimpleNamespace, cast: Cast, who: str
) -> None:
    user = cast.everybody[who]
    people.make_member(cast.project, user, "annotator", "admin")
    row = line.rows[3]
    assert field_access(user, row).mode == "admin"
    people.import_records(cast.project, [people.make_record(9)], subset="more")
    m.Assignment.objects.filter(pk=line.ann_open.pk).delete()
    m.Trajectory.objects.filter(pk=row.pk).update(free_slots=1)
    mine = people.claim(user, cast.project)
    assert mine.trajectory_id == row.pk

    for model in BLIND:
        of_row = [
            one.annotator_id if model is m.Assignment else one.assignment.annotator_id
            for one in seen(user, model)
            if (one if model is m.Assignment else one.assignment).trajectory_id == row.pk
        ]
        assert set(of_row) <= {user.pk}
    assert seen(user, m.Suggestion) == seen(user, m.SuggestedLabel) == []
    view = field_access(user, row)
    assert (view.mode, view.others_labels, view.consensus, view.raw) == ("annotator", False, False, False)
    others = {one.assignment.trajectory_id for one in seen(user, m.Label)}
    assert others >= {line.rows[0].pk, line.rows[1].pk}

    people.label_all(mine, -1, outcome=-1)
    label.submit(actor=user, assignment=mine)
    assert field_access(user, row).mode == "admin"
    assert {one.assignment.annotator_id for one in seen(user, m.Label)} >= {cast.cleo.pk, user.pk}


def test_tokens_are_their_owners_alone(cast: Cast) -> None:
    for user in (cast.ann, cast.root):
        accounts.issue_token(actor=user, user=user, name="mine")

    assert {token.user_id for token in seen(cast.root, m.ApiToken)} == {cast.root.pk}
    assert {token.user_id for token in seen(cast.ann, m.ApiToken)} == {cast.ann.pk}
    assert seen(cast.admin, m.ApiToken) == []


def test_releases_are_for_adjudicators_and_admins(line: SimpleNamespace, cast: Cast) -> None:
    release.freeze(actor=cast.admin, project=cast.project, version="1.0")

    for model in (m.Release, m.ReleaseRecord, m.ReleaseLabel):
        assert seen(cast.admin, model) and seen(cast.judith, model)
        assert seen(cast.ann, model) == []


def test_lookups_find_what_a_policy_leaves_and_no_more(line: SimpleNamespace, cast: Cast) -> None:
    """Of everybody, of an admin who labels, and of who may not sign in any more."""
    m.Membership.objects.filter(user=cast.ann).update(is_admin=True)
    rows: tuple[tuple[Lookup[Any], Any, Any], ...] = (
        (lookups.own_assignment, policies.own, lookups.ASSIGNMENTS),
        (lookups.own_case, policies.own, lookups.CASES),
        (lookups.visible_case, visible, lookups.CASES),
        (lookups.visible_trajectory, visible, lookups.TRAJECTORIES),
    )
    away = m.User.objects.get(pk=cast.root.pk)
    away.is_active = False
    found = 0
    for look_up, policy, table in rows:
        for key in [*table.values_list("pk", flat=True), 10**6, BigIntegerField.MAX_BIGINT + 1]:
            for name in EVERYBODY:
                user = cast.everybody[name]
                assert look_up(user, key) == policy(user, table).filter(pk=key).first(), (name, key)
                found += look_up(user, key) is not None
            assert look_up(AnonymousUser(), key) is look_up(away, key) is None
    assert found > 20
    for name in EVERYBODY:
        member = name != "oscar"
        assert (lookups.visible_project(cast.everybody[name], "bench") == cast.project) is member
        assert lookups.visible_project(cast.everybody[name], "bench\x00") is None


def test_rows_that_are_not_live_are_nobodys(line: SimpleNamespace, cast: Cast) -> None:
    assert seen(cast.admin, m.Trajectory)
    m.Trajectory.objects.update(live=False)

    for user in (*cast.everybody.values(), OPERATOR):
        assert seen(user, m.Trajectory) == []


# ── Sight ─────────────────────────────────
def test_annotator_sees_what_the_project_lets_them_see(line: SimpleNamespace, cast: Cast) -> None:
    view = field_access(cast.ann, line.rows[3])
    assert (view.mode, view.own_labels, view.others_labels, view.names) == ("annotator", True, False, False)
    assert (view.reference_answer, view.reward_hints, view.raw) == (True, False, False)
    assert view.suggestions == "after_label"

    projects.update_project(
        actor=cast.admin,
        project=cast.project,
        values={"show_reference_answer": False, "show_reward_hints": True, "suggestion_policy": "never"},
    )
    row = m.Trajectory.objects.get(pk=line.rows[3].pk)
    view = field_access(cast.ann, row)
    assert (view.reference_answer, view.reward_hints, view.suggestions) == (False, True, "never")


def test_sight_after_submitting_leaves_others_labels_out(line: SimpleNamespace, cast: Cast) -> None:
    for row in line.rows[:3]:
        view = field_access(cast.ann, m.Trajectory.objects.get(pk=row.pk))
        assert (view.mode, view.others_labels, view.consensus) == ("annotator", False, False)


def test_adjudicator_sees_a_and_b_of_their_case_without_names(line: SimpleNamespace, cast: Cast) -> None:
    assert field_access(cast.judith, line.rows[2]).mode == "none"
    people.open_case(cast.judith, line.rows[2])

    open_view = field_access(cast.judith, m.Trajectory.objects.get(pk=line.rows[2].pk))
    decided_view = field_access(cast.judith, m.Trajectory.objects.get(pk=line.rows[1].pk))

    assert (open_view.mode, open_view.others_labels, open_view.names) == ("adjudicator", True, False)
    assert (open_view.consensus, open_view.suggestions) == (False, "after_label")
    assert decided_view.consensus


@pytest.mark.parametrize("row", [0, 1, 2, 3])
def test_sight_is_none_for_who_has_no_part_in_it(line: SimpleNamespace, cast: Cast, row: int) -> None:
    for user in (cast.oscar, AnonymousUser(), None):
        assert field_access(user, line.rows[row]) == policies.NO_ACCESS  # type: ignore[arg-type]


def test_sight_of_an_open_assignment_is_lost_by_who_was_removed_from_the_project(
    line: SimpleNamespace, cast: Cast
) -> None:
    m.Membership.objects.filter(user=cast.ann).delete()

    assert field_access(cast.ann, line.rows[3]).mode == "none"
    assert seen(cast.ann, m.Trajectory) == []


@pytest.mark.parametrize("who", EVERYBODY)
def test_sight_takes_at_most_three_queries(line: SimpleNamespace, cast: Cast, who: str) -> None:
    row = m.Trajectory.objects.select_related("project").get(pk=line.rows[1].pk)

    with CaptureQueriesContext(connection) as queries:
        field_access(cast.everybody[who], row)

    assert len(queries) <= 3
