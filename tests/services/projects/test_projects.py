"""Projects: settings, guidelines, members, invitations."""

from __future__ import annotations

from datetime import timedelta
from io import BytesIO

import pytest
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, Invalid, NotFound
from annotation.core.guidelines import default_guideline
from annotation.core.kinds import DECISIONS
from annotation.models import AuditEvent, Guideline, Invitation, Membership, Project, User
from annotation.policies import OPERATOR
from annotation.services import accounts, label, projects
from tests import people
from tests.fixtures.decisions import import_decisions, make_decisions_cast
from tests.people import PASSWORD, Cast
from tests.services.together import refused, succeeded, together


def test_project_has_its_maker_as_admin_and_a_first_version_of_guidelines(db: None) -> None:
    root = people.make_user("root", is_superuser=True)

    project = projects.create_project(actor=root, name="Ünder the Sea", guidelines="Judge.")

    assert project.slug == "under-the-sea"
    assert Membership.objects.get(project=project, user=root).is_admin
    assert Guideline.objects.get(project=project).version == 1


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 200}, "name"),
        ({"name": "A", "slug": "a b"}, "slug"),
        ({"name": "A", "slug": "bench"}, "slug"),
        ({"name": "A", "annotators_per_trajectory": 0}, "annotators_per_trajectory"),
        ({"name": "A", "annotators_per_trajectory": 10}, "annotators_per_trajectory"),
        ({"name": "A", "suggestion_policy": "sometimes"}, "suggestion_policy"),
        ({"name": "A", "owner": 5}, "owner"),
        ({"name": "A", "kind": "questions"}, "kind"),
        ({"name": "A", "kind": "decisions", "carry_forward": True}, "carry_forward"),
    ],
)
def test_project_that_cannot_be_is_refused_by_its_field(
    cast: Cast, values: dict[str, object], field: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        projects.create_project(actor=OPERATOR, **values)  # type: ignore[arg-type]

    assert field in refusal.value.fields
    assert Project.objects.count() == 1


@pytest.mark.postgres
def test_project_keeps_its_kind_and_takes_files_of_that_kind_alone(db: None) -> None:
    cast = make_decisions_cast(2)
    project, guideline = cast.project, projects.create_project(actor=OPERATOR, name="B", kind="decisions")

    assert [people.step_indexes(row) for row in project.trajectories.all()] == [[3, 4]] * 2
    assert guideline.guidelines.get().text == default_guideline("en", DECISIONS)
    with pytest.raises(Invalid, match="fixed when it is created"):
        projects.update_project(actor=cast.admin, project=project, values={"kind": "steps"})
    with pytest.raises(Invalid, match="no error carries on"):
        projects.update_project(actor=cast.admin, project=project, values={"carry_forward": True})
    with pytest.raises(Conflict, match="no error carries on"):
        projects.update_subset(actor=cast.admin, subset=project.subsets.get(), suspend_on_user_turn=True)
    with pytest.raises(Invalid, match="of the kind “steps”"):
        people.import_records(project, 1)
    with pytest.raises(Invalid, match="of the kind “decisions”"):
        import_decisions(people.make_project("runs"))
    assert project.trajectories.count() == 2


@pytest.mark.postgres
def test_settings_are_changed_and_the_change_is_recorded_by_name(cast: Cast) -> None:
    projects.update_project(
        actor=cast.admin, project=cast.project, values={"name": "New", "carry_forward": True}
    )

    cast.project.refresh_from_db()
    assert (cast.project.name, cast.project.carry_forward) == ("New", True)
    assert AuditEvent.objects.get(verb="project.change").detail == {"fields": ["carry_forward", "name"]}
    with pytest.raises(Invalid):
        projects.update_project(actor=cast.admin, project=cast.project, values={"slug": "other"})
    with pytest.raises(Denied):
        projects.update_project(actor=cast.ann, project=cast.project, values={"name": "Mine"})


def test_guidelines_are_written_in_versions_and_the_same_text_makes_none(cast: Cast) -> None:
    second = projects.write_guidelines(actor=cast.admin, project=cast.project, text="New.")
    again = projects.write_guidelines(actor=cast.admin, project=cast.project, text="New.")

    assert (second.version, again.pk) == (2, second.pk)


# ── Members ───────────────────────────────
def test_member_holds_one_role_or_more(cast: Cast) -> None:
    row = people.make_member(cast.project, cast.oscar, "annotator", "adjudicator")
    projects.set_roles(actor=cast.admin, membership=row, is_adjudicator=True)

    held = Membership.objects.get(project=cast.project, user=cast.oscar)
    assert (held.is_annotator, held.is_adjudicator, held.is_admin) == (False, True, False)
    with pytest.raises(Invalid):
        projects.set_roles(actor=cast.admin, membership=row)


def test_member_is_made_unasked_by_the_operator_only(cast: Cast) -> None:
    for actor in (cast.admin, cast.root, cast.oscar):
        with pytest.raises(Denied):
            projects.add_member(actor=actor, project=cast.project, user=cast.oscar, is_annotator=True)
        with pytest.raises(Denied):
            label.import_labels(
                actor=actor, project=cast.project, annotator="oscar", stream=BytesIO(b""), filename="a.jsonl"
            )
    assert not Membership.objects.filter(user=cast.oscar).exists()


def test_member_who_is_the_last_admin_keeps_the_role(cast: Cast) -> None:
    membership = Membership.objects.get(project=cast.project, user=cast.admin)

    for deed in (
        lambda: projects.remove_member(actor=cast.admin, membership=membership),
        lambda: projects.set_roles(actor=cast.admin, membership=membership, is_annotator=True),
    ):
        with pytest.raises(Conflict) as refusal:
            deed()
        assert refusal.value.code == "last_admin"


def test_member_who_is_the_last_admin_with_an_open_account_keeps_the_role(cast: Cast) -> None:
    projects.add_member(actor=OPERATOR, project=cast.project, user=cast.ben, is_admin=True)
    accounts.close_account(actor=OPERATOR, user=cast.ben)
    membership = Membership.objects.get(project=cast.project, user=cast.admin)
    with pytest.raises(Conflict) as refusal:
        projects.remove_member(actor=cast.admin, membership=membership)
    assert refusal.value.code == "last_admin"


def test_member_who_is_removed_leaves_their_labels(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    people.label_next(cast.ann, cast.project)

    projects.remove_member(
        actor=cast.admin, membership=Membership.objects.get(project=cast.project, user=cast.ann)
    )

    assert cast.ann.assignments.get().labels.count() == 2
    with pytest.raises(Denied):
        people.claim(cast.ann, cast.project)


# ── Invitations ───────────────────────────
def test_invitation_is_stored_hashed_and_joins_a_new_account_once(cast: Cast) -> None:
    _, secret = projects.invite(
        actor=cast.admin, project=cast.project, email="new@example.org", is_annotator=True
    )
    assert secret not in str(Invitation.objects.values())

    user, membership = projects.accept_invitation(secret=secret, username="newcomer", password=PASSWORD)

    assert (user.email, user.is_superuser, membership.is_annotator) == ("new@example.org", False, True)
    with pytest.raises(NotFound):
        projects.accept_invitation(secret=secret, username="second", password=PASSWORD)
    assert not User.objects.filter(username="second").exists()


def test_invitation_adds_to_the_roles_a_member_holds(cast: Cast) -> None:
    _, secret = projects.invite(actor=cast.admin, project=cast.project, is_adjudicator=True)

    _, membership = projects.accept_invitation(secret=secret, user=cast.ann)

    assert (membership.is_annotator, membership.is_adjudicator) == (True, True)


def test_invitation_with_a_bad_name_or_password_stays_open(cast: Cast) -> None:
    _, secret = projects.invite(actor=cast.admin, project=cast.project, is_annotator=True)

    for name, password in (
        ("new\x00comer", PASSWORD),
        ("newcomer", "short"),
        ("", PASSWORD),
        ("n" * 151, PASSWORD),
    ):
        with pytest.raises(Invalid):
            projects.accept_invitation(secret=secret, username=name, password=password)

    assert projects.invitation_of(secret=secret).accepted_at is None


def test_invitation_that_is_declined_ends_and_tells_of_nobody(cast: Cast) -> None:
    invitation, secret = projects.invite(actor=cast.admin, project=cast.project, is_admin=True)
    before = AuditEvent.objects.count()
    projects.decline_invitation(secret=secret)

    for answer in (projects.decline_invitation, projects.accept_invitation):
        with pytest.raises(NotFound):
            answer(secret=secret)
    projects.revoke_invitation(actor=cast.admin, invitation=invitation)
    invitation.refresh_from_db()
    assert (invitation.accepted_by, invitation.revoked_at) == (None, None) and invitation.declined_at
    assert AuditEvent.objects.count() == before


def test_invitation_ends_with_its_time_or_when_it_is_revoked(cast: Cast) -> None:
    now = timezone.now()
    old, old_secret = projects.invite(actor=cast.admin, project=cast.project, is_admin=True, now=now)
    other, other_secret = projects.invite(actor=cast.admin, project=cast.project, is_admin=True)
    projects.revoke_invitation(actor=cast.admin, invitation=other)
    projects.revoke_invitation(actor=cast.admin, invitation=other)

    with pytest.raises(NotFound):
        projects.invitation_of(secret=old_secret, now=now + timedelta(days=14, seconds=1))
    for secret in (other_secret, "", "\x00", "x" * 500):
        with pytest.raises(NotFound):
            projects.invitation_of(secret=secret)
    assert AuditEvent.objects.filter(verb="invitation.revoke").count() == 1
    assert projects.invitation_of(secret=old_secret).pk == old.pk


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_invitation_that_two_people_follow_at_once_lets_one_in() -> None:
    cast = people.make_cast()
    _, secret = projects.invite(actor=cast.admin, project=cast.project, is_annotator=True)

    results = together(
        *(
            lambda name=name: projects.accept_invitation(secret=secret, username=name, password=PASSWORD)
            for name in ("first", "second", "third")
        )
    )

    assert len(succeeded(results)) == 1
    assert refused(results) == ["invitation_gone"] * 2
    assert User.objects.filter(username__in=("first", "second", "third")).count() == 1
