"""Two people, or two windows, change the same thing: the later one is shown both, and loses nothing typed."""

from __future__ import annotations

import re
from typing import Any

import pytest

from annotation.models import Guideline, Judge, Membership, Project, Subset
from annotation.services import projects, suggest
from frontend.rendering.began import begun
from tests import people
from tests.fixtures.judges import make_judge
from tests.frontend.beginning import seen


def posted(page: Any) -> dict[str, str]:
    """The fields that the browser sends when nothing is typed into the form of a page."""
    values = {field.name: field.value() for field in page.context["form"]}
    sent = {name: "" if value is None else value for name, value in values.items() if value is not False}
    return {**sent, "began": page.context["began"]}


def rows(body: str) -> list[list[str]]:
    """The table of what both have changed, as words."""
    found = re.search(r"<tbody>(.*?)</tbody>", body, re.DOTALL)
    assert found
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in found[1].split("</tr>")[:-1]]
    return [[" ".join(re.sub("<[^>]*>", " ", cell).split()) for cell in row] for row in cells]


def test_settings_saved_meanwhile_are_shown_beside_what_was_typed(browse, cast, at, text):
    client, address = browse("admin"), at("project-settings", "bench")
    mine = posted(client.get(address)) | {"name": "Mine", "claim_limit": "7"}
    projects.update_project(
        actor=cast.root, project=cast.project, values={"name": "Theirs", "retest_percent": 9}
    )

    answer = client.post(address, mine)

    assert answer.status_code == 409 and "Root has changed this" in text(answer)
    assert Project.objects.get().name == "Theirs"
    assert rows(text(answer)) == [
        ["Name both changed", "Theirs", "Mine"],
        ["Unfinished trajectories a person may hold", "50", "7"],
        ["Percent that annotators label again", "9", "not changed"],
    ]
    # what was typed is in the form, and what was not is theirs
    again = posted(answer)
    assert (again["name"], again["claim_limit"], again["retest_percent"]) == ("Mine", 7, 9)
    assert client.post(address, again).status_code == 302
    project = Project.objects.get()
    assert (project.name, project.claim_limit, project.retest_percent) == ("Mine", 7, 9)


def test_settings_of_ones_own_other_window_are_not_written_over(browse, cast, at, text):
    client, address = browse("admin"), at("project-settings", "bench")
    one, other = (posted(client.get(address)) for _ in range(2))
    assert client.post(address, one | {"name": "One"}).status_code == 302
    answer = client.post(address, other | {"description": "Other"})
    assert answer.status_code == 409 and "in another window" in text(answer)
    assert f'href="{address}"' in text(answer) and "Take what is saved" in text(answer)
    # both windows the same: nothing to ask
    assert client.post(address, other | {"name": "One"}).status_code == 302
    assert Project.objects.get().description == ""


@pytest.mark.parametrize("began", ["", "{", "[]", '{"version": 1}', "9" * 5000, "[" * 100_000])
def test_form_that_does_not_say_what_it_began_from_writes_over_nothing(browse, cast, at, began):
    client, address = browse("admin"), at("project-settings", "bench")
    assert (
        client.post(address, posted(client.get(address)) | {"name": "New", "began": began}).status_code == 409
    )
    assert Project.objects.get().name == cast.project.name


def test_settings_refused_for_another_reason_still_know_what_they_began_from(browse, cast, at):
    client, address = browse("admin"), at("project-settings", "bench")
    mine = posted(client.get(address)) | {"claim_limit": "0"}
    projects.update_project(actor=cast.root, project=cast.project, values={"name": "Theirs"})
    refused = client.post(address, mine)
    assert refused.status_code == 400
    again = mine | {"claim_limit": "7", "began": refused.context["began"]}
    assert client.post(address, again).status_code == 409


def test_roles_that_somebody_else_has_changed_are_kept_beside_ones_own(browse, cast, at, text):
    client, row = browse("admin"), Membership.objects.get(user=cast.ann)
    before = seen(row)
    projects.set_roles(actor=cast.root, membership=row, is_annotator=True, is_adjudicator=True)

    answer = client.post(at("member", "bench", row.pk), {"is_annotator": "on", "is_admin": "on", **before})

    assert answer.status_code == 409
    assert rows(text(answer)) == [["adjudicator", "yes", "not changed"], ["admin", "no", "yes"]]
    kept = answer.context["collision"].kept
    assert kept == {"is_annotator": "on", "is_adjudicator": "on", "is_admin": "on", **seen_now(row)}
    assert client.post(answer.context["collision"].action, kept).status_code == 302
    row.refresh_from_db()
    assert (row.is_annotator, row.is_adjudicator, row.is_admin) == (True, True, True)


def seen_now(row: Any) -> dict[str, str]:
    row.refresh_from_db()
    return seen(row)


def test_subset_that_somebody_else_has_changed_is_not_changed_back(browse, cast, at, text):
    people.import_records(cast.project, 1)
    subset = Subset.objects.get()
    before = {"began": begun(subset.version, {"suspend_on_user_turn": True})}
    client, address = browse("admin"), at("subset", "bench", subset.pk)
    answer = client.post(address, {"suspend_on_user_turn": "on", "began": ""})
    assert answer.status_code == 409 and not Subset.objects.get().suspend_on_user_turn
    assert f'action="{at("project-settings", "bench")}"' in text(answer)
    assert client.post(address, {"suspend_on_user_turn": "on", **before}).status_code == 302


def test_judge_that_somebody_else_has_changed_is_shown_beside_ones_own(browse, cast, at, text, judge_urls):
    judge = make_judge(cast, price_input="0.150000")
    client, address = browse("admin"), at("judge-edit", "bench", judge.pk)
    mine = posted(client.get(address)) | {"concurrency": "3"}
    suggest.update_judge(actor=cast.root, judge=judge, values={"name": "Theirs"})
    answer = client.post(address, mine)
    assert answer.status_code == 409
    assert rows(text(answer)) == [["Name", "Theirs", "not changed"], ["Concurrent calls", "4", "3"]]
    assert client.post(address, posted(answer)).status_code == 302
    after = Judge.objects.get()
    assert (after.name, after.concurrency) == ("Theirs", 3)


def test_guidelines_made_from_an_older_version_are_shown_against_the_newest(browse, cast, at, text):
    client, address = browse("admin"), at("guidelines-edit", "bench")
    mine = posted(client.get(address)) | {"text": "Judge each step.\r\nMine."}
    projects.write_guidelines(actor=cast.root, project=cast.project, text="Judge each step.\nTheirs.")
    preview = client.post(address, mine | {"preview": "1"})

    answer = client.post(address, posted(preview))

    assert answer.status_code == 409 and Guideline.objects.count() == 2
    body = text(answer)
    assert "Root has changed this" in body and "Theirs.</del>" in body and "Mine.</ins>" in body
    assert client.post(address, posted(answer)).status_code == 302
    assert Guideline.objects.order_by("-version").first().text == "Judge each step.\nMine."
