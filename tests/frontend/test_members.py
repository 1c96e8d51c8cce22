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


def test_quotas_and_days_away_of_a_member_are_set_on_their_page(browse, cast, at, text):
    people.import_records(cast.project, 1)
    subset = cast.project.subsets.get()
    member = cast.project.memberships.get(user=cast.ann)
    admin, url = browse("admin"), at("member-limits", "bench", member.pk)
    assert f'href="{url}"' in text(admin.get(at("members", "bench")))
    sent = {f"quota_{subset.pk}": "3", "away_0_first": "2126-12-20", "away_0_last": "2127-01-03"}
    done = admin.post(url, sent, follow=True)
    assert "Quotas and days away of Ann are saved." in text(done)
    assert "tiny: at most 3 · away 2126-12-20 – 2127-01-03" in text(done)
    shown = text(admin.get(url))
    assert 'value="3"' in shown and 'value="2126-12-20"' in shown and 'name="away_1_first"' in shown
    for wrong, reason in (
        ({"away_0_first": "2126-12-20"}, "Enter both days."),
        ({"away_0_first": "2126-12-20", "away_0_last": "2126-12-19"}, "comes before the first"),
        ({f"quota_{subset.pk}": "-1"}, "greater than or equal to 0"),
    ):
        refused = admin.post(url, wrong)
        assert refused.status_code == 400 and reason in text(refused), wrong
    assert member.quotas.get().most == 3 and member.days_away.count() == 1
    assert admin.post(url, {f"quota_{subset.pk}": ""}).status_code == 302
    assert not member.quotas.exists() and not member.days_away.exists()
