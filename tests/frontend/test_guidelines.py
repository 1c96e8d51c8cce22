"""Guidelines: what a new project starts with, and what annotators read before they label."""

from __future__ import annotations

import pytest

from annotation.core.guidelines import default_guideline
from annotation.models import Guideline, Membership, Project
from annotation.policies import OPERATOR
from annotation.services import accounts, projects
from tests import people
from tests.fixtures.shared_rows import shared_rows

NEW = {
    "name": "New",
    "annotators_per_trajectory": "2",
    "claim_limit": "2",
    "second_reader": "person",
    "suggestion_policy": "never",
    "retest_percent": "5",
    "retest_days": "7",
}


@shared_rows
def first_timer(cast):
    """Ann has claimed a trajectory, and read nothing yet."""
    people.import_records(cast.project, 2)
    Membership.objects.filter(user=cast.ann).update(guideline_seen=0)
    return people.claim(cast.ann, cast.project)


@pytest.mark.parametrize(
    ("profile", "browser", "spoken"),
    [("", "en", "en"), ("", "zh-CN", "zh-hans"), ("zh-hans", "en", "zh-hans"), ("en", "zh-CN", "en")],
)
def test_project_starts_with_the_default_guidelines_in_its_makers_language(
    browse, cast, at, text, profile, browser, spoken
):
    accounts.update_profile(actor=cast.root, user=cast.root, values={"language": profile})
    client = browse("root")
    response = client.post(at("project-create"), NEW, headers={"accept-language": browser})
    assert response.status_code == 302
    found = Project.objects.get(slug="new").guidelines.get()
    assert (found.version, found.text) == (1, default_guideline(spoken))
    page = text(client.get(at("guidelines", "new")))
    assert "<table>" in page
    assert "No guidelines yet" not in page


def test_project_of_the_operator_starts_with_the_english_guidelines_and_may_have_none(db):
    assert projects.create_project(actor=OPERATOR, name="A").guidelines.get().text == default_guideline("en")
    assert projects.create_project(actor=OPERATOR, name="B", guidelines="").guidelines.get().text == ""


def test_guidelines_stand_before_the_first_label_and_are_read_once(browse, cast, at, text, first_timer):
    client, bench = browse("ann"), at("workbench", first_timer.pk)
    read = at("workbench-guidelines", first_timer.pk)
    assert client.get(bench).url == read
    page = text(client.get(read))
    assert "Before your first label" in page
    assert "Judge each step." in page
    assert "autofocus" in page
    assert client.post(read, {"version": "7"}).status_code == 404
    assert client.get(bench).status_code == 302
    assert client.post(read, {"version": "1"}).url == bench
    assert client.get(bench).status_code == 200
    assert client.get(read).url == bench
    assert Membership.objects.get(user=cast.ben).guideline_seen == 1


def test_guidelines_of_a_new_version_are_shown_with_what_changed(browse, cast, at, text, first_timer):
    client, bench = browse("ann"), at("workbench", first_timer.pk)
    client.post(at("workbench-guidelines", first_timer.pk), {"version": "1"})
    text_now = "Judge each step.\n\nA greeting <b>is</b> +1."
    projects.write_guidelines(actor=cast.admin, project=cast.project, text=text_now)
    page = text(client.get(bench, follow=True))
    assert "The guidelines have changed" in page
    added = page.partition("<ins>")[2].partition("</ins>")[0]
    assert "A greeting &lt;b&gt;is&lt;/b&gt; +1." in page.partition('class="diff"')[2]
    assert added
    client.post(at("workbench-guidelines", first_timer.pk), {"version": "2"})
    client.post(at("workbench-guidelines", first_timer.pk), {"version": "1"})
    assert client.get(bench).status_code == 200


def test_guidelines_without_text_stand_before_nothing(browse, cast, at, first_timer):
    Guideline.objects.update(text=" ")
    assert browse("ann").get(at("workbench", first_timer.pk)).status_code == 200


def test_guidelines_do_not_stand_before_what_is_submitted(browse, cast, at):
    people.import_records(cast.project, 1)
    mine = people.label_next(cast.ann, cast.project)
    Membership.objects.filter(user=cast.ann).update(guideline_seen=0)
    assert browse("ann").get(at("workbench", mine.pk)).status_code == 200


def test_guidelines_show_what_changed_in_a_version_and_in_a_preview(browse, cast, at, text):
    projects.write_guidelines(actor=cast.admin, project=cast.project, text="Judge each step twice.")
    page = text(browse("ann").get(at("guidelines", "bench") + "?version=2&changes=1"))
    assert "Changes from version 1 to version 2" in page
    assert "Judge each step.</del>" in page
    assert "Judge each step twice.</ins>" in page
    assert "<del>" not in text(browse("ann").get(at("guidelines", "bench") + "?version=1&changes=1"))
    asked = {"text": "Judge each step thrice.", "preview": "1"}
    preview = text(browse("admin").post(at("guidelines-edit", "bench"), asked))
    assert "Changes since version 2" in preview
    assert "Judge each step thrice.</ins>" in preview
