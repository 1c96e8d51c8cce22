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


def began(client, url):
    return {"began": client.get(url).context["began"]}


def test_quotas_and_days_away_of_a_member_are_set_on_their_page(browse, cast, at, text):
    people.import_records(cast.project, 1)
    subset = cast.project.subsets.get()
    member = cast.project.memberships.get(user=cast.ann)
    admin, url = browse("admin"), at("member-limits", "bench", member.pk)
    assert f'href="{url}"' in text(admin.get(at("members", "bench")))
    sent = {f"quota_{subset.pk}": "3", "away_0_first": "2126-12-20", "away_0_last": "2127-01-03"}
    done = admin.post(url, {**sent, **began(admin, url)}, follow=True)
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
    assert admin.post(url, {f"quota_{subset.pk}": "", **began(admin, url)}).status_code == 302
    assert not member.quotas.exists() and not member.days_away.exists()


def test_limits_that_somebody_else_has_changed_meanwhile_are_not_written_over(browse, at, cast, text):
    people.import_records(cast.project, 1)
    subset = cast.project.subsets.get()
    member = cast.project.memberships.get(user=cast.ann)
    quota = f"quota_{subset.pk}"
    admin, root, url = browse("admin"), browse("root"), at("member-limits", "bench", member.pk)
    before = began(admin, url)
    theirs = {quota: "3", "away_0_first": "2126-12-20", "away_0_last": "2127-01-03"}
    assert root.post(url, {**theirs, **began(root, url)}).status_code == 302

    mine = {quota: "5", "away_0_first": "2126-08-01", "away_0_last": "2126-08-09"}
    refused = admin.post(url, {**mine, **before})

    assert refused.status_code == 409 and member.quotas.get().most == 3
    assert "has changed this since you began" in text(refused) and "both changed" in text(refused)
    form = refused.context["form"]
    merged = {name: str(value) for name, value in form.shown().items() if value is not None}
    assert merged == {
        **mine,
        "away_1_first": "2126-12-20",
        "away_1_last": "2127-01-03",
    }
    assert admin.post(url, {**merged, "began": refused.context["began"]}).status_code == 302
    assert member.quotas.get().most == 5 and member.days_away.count() == 2
