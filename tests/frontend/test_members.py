"""Members: changing roles, removing; the last admin stays."""

from __future__ import annotations

from annotation.models import Membership
from tests import people
from tests.frontend.beginning import seen


def test_roles_are_changed_and_one_is_needed(browse, cast, at):
    client, row = browse("admin"), Membership.objects.get(user=cast.ann)
    client.post(at("member", "bench", row.pk), {"is_adjudicator": "on", **seen(row)})
    row.refresh_from_db()
    assert (row.is_annotator, row.is_adjudicator) == (False, True)
    client.post(at("member", "bench", row.pk), seen(row))
    row.refresh_from_db()
    assert row.is_adjudicator


def test_members_of_another_project_cannot_be_reached_through_ones_own(browse, cast, at):
    project = people.make_project("other")
    row = people.make_member(project, cast.oscar, "annotator")
    assert browse("admin").post(at("member", "bench", row.pk), {"remove": "1"}).status_code == 404
    assert browse("admin").post(at("member", "other", row.pk), {"remove": "1"}).status_code == 404
    assert Membership.objects.filter(pk=row.pk).exists()
