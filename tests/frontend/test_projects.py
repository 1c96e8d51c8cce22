"""The list of projects, a new one, settings, subsets, guidelines, the audit log, the overview."""

from __future__ import annotations

import re

import pytest

from annotation.core.project_templates import TEMPLATES
from annotation.models import Guideline, ImportFile, Invitation, Project, Subset
from annotation.services import projects as projects_service
from annotation.services.projects import settings
from api.serializers import projects
from frontend.forms.projects import SettingsForm
from tests import people
from tests.frontend.beginning import seen

SETTINGS = {
    "name": "Renamed",
    "description": "",
    "annotators_per_trajectory": "3",
    "claim_limit": "4",
    "claim_days": "",
    "retest_percent": "0",
    "retest_days": "8",
    "second_reader": "person",
    "suggestion_policy": "never",
    "show_reference_answer": "on",
}
FILLED = {
    "annotators_per_trajectory": "2",
    "claim_limit": "2",
    "claim_days": "14",
    "retest_percent": "5",
    "retest_days": "7",
    "second_reader": "person",
    "suggestion_policy": "after_label",
    "show_reference_answer": "on",
}
"""The settings as the form of a new project has them."""


def test_settings_of_a_project_are_on_the_page_and_in_the_api():
    change = set(projects.ProjectChange().fields) - {"version"}
    assert change == settings.SETTINGS == set(SettingsForm.base_fields)
    assert change <= set(projects.Project().fields)


def test_project_is_started_by_a_site_admin_who_is_its_admin(browse, cast, at):
    response = browse("root").post(at("project-create"), {**SETTINGS, "slug": ""})
    assert response.url == at("project", "renamed")
    project = Project.objects.get(slug="renamed")
    assert project.memberships.get().user == cast.root
    assert not project.show_reward_hints


def test_project_needs_a_name_alone_and_says_in_sentences_what_it_begins_with(browse, cast, at, text):
    client = browse("root")
    page = text(client.get(at("project-create")))
    for sentence in (
        "2 people label each trajectory. The reference answer is shown.",
        "Annotators see judges’ suggestions: after labelling the step themselves.",
        "A person holds at most 2 unfinished trajectories. Unused claims expire after 14 days.",
        "Annotators label 5 % of their own again after 7 days.",
    ):
        assert sentence in page
    shown = {**FILLED, "name": "Pools", "filled": "benchmark", "origin": "gold"}
    gold = text(client.post(at("project-create"), {**shown, "use": "1"}))
    assert 'value="Pools"' in gold and "3 people label each trajectory." in gold
    assert not Project.objects.filter(name="Pools").exists()
    # what was not touched is the template's; what was, is what was typed
    client.post(at("project-create"), {**shown, "claim_limit": "4"})
    made = Project.objects.get(slug="pools")
    assert (made.annotators_per_trajectory, made.retest_percent, made.claim_limit) == (3, 10, 4)
    assert made.suggestion_policy == "never" and not made.show_reference_answer


def test_project_is_started_with_people_whose_links_are_shown_once(browse, cast, at, text):
    client = browse("root")
    sent = {**FILLED, "name": "Pools", "people": "Dora\nemil@example.org"}
    assert "in line 1" in text(client.post(at("project-create"), {**sent, "people": "no@"}))
    page = client.post(at("project-create"), sent)
    assert (
        text(page).count('value="http://testserver/invitations/') == 2 and "no-store" in page["Cache-Control"]
    )
    assert [row.is_annotator for row in Invitation.objects.filter(project__slug="pools")] == [True, True]


def test_project_begins_with_training_examples_if_ticked_and_its_guidelines_are_the_default(browse, cast, at):
    client = browse("root")
    ticked = {**FILLED, "training_examples": "on"}
    assert client.get(at("project-create")).context["form"]["training_examples"].value() is True
    copied = {"origin": "project:bench", "copy_guidelines": "on"}
    others = {"pairs": {"kind": "decisions"}, "copy": copied}
    client.post(at("project-create"), {**FILLED, "name": "bare"})
    for name, more in {"whole": {}, "own": {**copied, "copy_guidelines": ""}, **others}.items():
        client.post(at("project-create"), {**ticked, "name": name, **more})
    begun = ImportFile.objects.filter(state="queued", subset__name="training", subset__training=True)
    assert {source.project.slug for source in begun} == {"whole", "own"}
    assert Project.objects.count() == 6


def test_project_is_copied_without_data_and_its_members_are_invited_again(browse, cast, at, text):
    people.import_records(cast.project, 1)
    Project.objects.filter(pk=cast.project.pk).update(annotators_per_trajectory=4, claim_days=None)
    settings.write_guidelines(actor=cast.admin, project=cast.project, text="Ours")
    sent = {**FILLED, "name": "Pools", "origin": "project:bench"}
    client = browse("root")
    client.post(at("project-create"), {**sent, "slug": "bare"})
    client.post(
        at("project-create"), {**sent, "slug": "whole", "copy_guidelines": "on", "copy_members": "on"}
    )
    bare, whole = (Project.objects.get(slug=slug) for slug in ("bare", "whole"))
    assert {(row.annotators_per_trajectory, row.claim_days) for row in (bare, whole)} == {(4, None)}
    assert whole.guidelines.get().text == "Ours" != bare.guidelines.get().text
    assert not whole.subsets.exists() and [row.user for row in whole.memberships.all()] == [cast.root]
    roles = {(row.name, row.is_annotator, row.is_adjudicator) for row in whole.invitations.all()}
    assert ("Ann", True, False) in roles and len(roles) == cast.project.memberships.count()
    assert not bare.invitations.exists()


def test_project_is_started_with_a_kind_and_copied_with_those_guidelines_alone(browse, cast, at, text):
    client, sent = browse("root"), {**FILLED, "name": "Pairs", "kind": "decisions"}
    shown = text(client.post(at("project-create"), {**sent, "use": "1"}))
    assert 'value="decisions"' in shown and "Propose +1 after" not in shown
    client.post(at("project-create"), sent)
    assert "Propose +1 after" not in text(client.get(at("project-settings", "pairs")))
    assert Project.objects.get(slug="pairs").kind == "decisions"
    copied = {**sent, "slug": "copy", "origin": "project:pairs", "copy_guidelines": "on"}
    page = client.post(at("project-create"), {**copied, "kind": "steps"})
    assert page.status_code == 400 and "only from a project of the same kind" in text(page)
    # a copy's form begins with the kind of what it copies
    form = client.post(at("project-create"), {**copied, "kind": "steps", "use": "1"}).context["form"]
    assert form["kind"].value() == "decisions"
    client.post(at("project-create"), copied)
    assert Project.objects.get(slug="copy").kind == "decisions"


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_of_a_project_makes_one(cast, name):
    chosen = projects_service.settings_from(template=name)
    assert set(chosen) <= settings.SETTINGS and TEMPLATES[name].settings.items() <= chosen.items()
    made, _ = projects_service.start_project(actor=cast.root, name=name, settings=chosen)
    assert all(getattr(made, key) == value for key, value in chosen.items())


def test_project_with_a_taken_or_impossible_slug_is_refused(browse, at):
    client = browse("root")
    for slug in ("bench", "not a slug"):
        response = client.post(at("project-create"), {**SETTINGS, "slug": slug})
        assert response.status_code == 400
        assert "slug" in response.context["form"].errors
    assert Project.objects.count() == 1


def test_settings_are_saved(browse, cast, at):
    form = {**SETTINGS, **seen(cast.project)}
    assert browse("admin").post(at("project-settings", "bench"), form).status_code == 302
    project = Project.objects.get()
    saved = (project.name, project.annotators_per_trajectory, project.suggestion_policy)
    assert saved == ("Renamed", 3, "never")
    assert (project.claim_limit, project.claim_days) == (4, None)
    assert (project.retest_percent, project.retest_days) == (0, 8)


def test_settings_fix_the_number_of_annotators_after_the_first_claim(browse, cast, at, text):
    people.import_records(cast.project, 1)
    people.claim(cast.ann, cast.project)
    client = browse("admin")
    assert "Cannot be changed: a trajectory has been claimed" in text(
        client.get(at("project-settings", "bench"))
    )
    form = {**SETTINGS, **seen(cast.project)}
    assert client.post(at("project-settings", "bench"), form).status_code == 302
    project = Project.objects.get()
    assert project.annotators_per_trajectory == 2
    assert project.name == "Renamed"


def test_subset_is_told_how_user_messages_count(browse, cast, at):
    people.import_records(cast.project, 1)
    subset = Subset.objects.get()
    client = browse("admin")
    client.post(at("subset", "bench", subset.pk), {"suspend_on_user_turn": "on", **seen(subset)})
    assert Subset.objects.get().suspend_on_user_turn
    client.post(at("subset", "bench", subset.pk), seen(Subset.objects.get()))
    assert not Subset.objects.get().suspend_on_user_turn


def test_guidelines_are_rendered_harmlessly_in_versions(browse, cast, at, text):
    client = browse("admin")
    evil = (
        "# Rules\n\n<script>alert(1)</script> ![x](https://evil.example/x.png) "
        "[go](javascript:alert(1)) **bold**"
    )
    preview = text(client.post(at("guidelines-edit", "bench"), {"text": evil, "preview": "1"}))
    assert Guideline.objects.count() == 1
    client.post(at("guidelines-edit", "bench"), {"text": evil, "began": "1"})
    page = text(browse("ann").get(at("guidelines", "bench")))
    for body in (preview, page):
        assert "<h2>Rules</h2>" in body
        assert "<strong>bold</strong>" in body
        assert "<script>alert" not in body
        assert "<img" not in body
        assert 'href="javascript' not in body
    assert "Version 2" in page
    old = text(browse("ann").get(at("guidelines", "bench") + "?version=1"))
    assert "Judge each step." in old
    assert "no longer current" in old


def test_audit_has_words_for_every_deed_of_the_services():
    import re
    from pathlib import Path

    import annotation.services
    from frontend.rendering.audit_text import AUDIT_SENTENCES

    folder = Path(annotation.services.__file__).parent
    source = "\n".join(path.read_text() for path in folder.rglob("*.py"))
    verbs = set(re.findall(r'verb="([a-z_.]+)"', source))
    assert verbs <= set(AUDIT_SENTENCES), verbs - set(AUDIT_SENTENCES)


def test_overview_shows_progress_to_admins_alone(browse, cast, at, text):
    people.import_records(cast.project, 3)
    people.make_disputed(cast)
    people.make_unanimous(cast)
    admin = text(browse("admin").get(at("project", "bench")))
    assert "1 of 3 trajectories resolved" in admin
    assert "Ben" in text(browse("admin").get(at("board", "bench")))
    for who in ("ann", "judith"):
        page = text(browse(who).get(at("project", "bench")))
        assert "resolved" not in page
        assert not re.search(r"\bBen\b", page)
    assert "Label the next one" in text(browse("ann").get(at("project", "bench")))


def test_overview_tiles_lead_on_and_tell_who_waits_from_what_somebody_holds(browse, cast, at, text):
    people.import_records(cast.project, 4)
    people.make_disputed(cast)
    people.label_next(cast.ann, cast.project)
    people.claim(cast.cleo, cast.project)
    page = text(browse("admin").get(at("project", "bench")))
    tiles = page.partition('<dl class="stats stats--tiles">')[2].partition("</dl>")[0]
    words = " ".join(re.sub(r"<[^>]+>", " ", tiles).split())
    assert words.startswith("Disputed 1 1 without an adjudicator Cohen’s κ") and "Left to label 5" in words
    assert "1 claimed, 4 free" in words and "Projected end – no estimate before 7 days" in words
    for name in ("adjudication-queue", "agreement", "trajectories"):
        assert at(name, "bench") in tiles
    legend = page.partition('class="legend">')[2].partition("</ul>")[0]
    found = " ".join(re.sub(r"<[^>]+>", " ", legend).split())
    # cleo holds the one that ann has labelled
    assert found == "disputed 1 labelling 1 unclaimed 2"
    for who in ("ann", "judith"):
        assert "stats--tiles" not in text(browse(who).get(at("project", "bench")))


def test_navigation_is_each_roles_own(browse, at, text):
    expected = {
        "ann": {"project", "work", "guidelines"},
        "judith": {"project", "adjudication-queue", "guidelines", "agreement", "releases"},
        "admin": {
            "project",
            "guidelines",
            "imports",
            "trajectories",
            "adjudication-queue",
            "agreement",
            "releases",
            "members",
            "project-settings",
            "audit",
        },
    }
    everything = set.union(*expected.values())
    for who, names in expected.items():
        page = text(browse(who).get(at("project", "bench")))
        shown = {name for name in everything if re.search(f'<li>\\s*<a href="{at(name, "bench")}"', page)}
        assert shown - {"project"} == names - {"project"}, who


def test_guidelines_without_a_text_have_no_version(browse, cast, at, text):
    Guideline.objects.filter(project=cast.project).update(text="")
    page = text(browse("ann").get(at("guidelines", "bench")))
    assert "No guidelines yet" in page
    assert "Version 1" not in page
