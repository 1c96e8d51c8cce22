"""Saved views: what a list was asked for, kept under a name by its admins, and checked when it is opened."""

from __future__ import annotations

import pytest

from annotation.core.errors import Denied, Invalid
from annotation.models import AuditEvent, Membership, SavedView, Subset
from annotation.services import saved_views as service
from tests import people


@pytest.fixture
def other_admin(cast):
    """A second admin of the project."""
    Membership.objects.filter(user=cast.cleo).update(is_admin=True)
    return cast.cleo


@pytest.fixture
def rows(cast):
    people.import_records(cast.project, 1, subset="one")
    people.import_records(cast.project, [people.make_record(7)], subset="two")


def save(client, url: str, query: str, **form):
    """The answer to the form above a list that shows `query`."""
    return client.post(f"{url}?{query}", {"act": "save", **form})


def records(answer) -> list[str]:
    return [row.subset.name for row in answer.context["page"]]


def test_view_is_saved_opened_changed_renamed_and_deleted(browse, cast, rows, at, text):
    client, url = browse("admin"), at("trajectories", "bench")
    assert "Save as a view" not in text(client.get(url))
    first = client.get(f"{url}?subset=two&q=&sort=-steps&page=1&labels=1")
    assert "Save as a view" in text(first)
    answer = save(client, url, "subset=two&q=&sort=-steps&page=1", name="  Long \x00 ones\u202e ")
    view = SavedView.objects.get()
    assert (view.name, view.query, view.owner) == ("Long ones", "subset=two&sort=-steps", cast.admin)
    assert answer.url == f"{url}?subset=two&sort=-steps&view={view.pk}"

    opened = client.get(answer.url)
    assert records(opened) == ["two"]
    page = text(opened)
    assert f'href="?subset=two&amp;sort=-steps&amp;view={view.pk}" aria-current="page"' in page
    assert ">changed</span>" not in page and "Keep the present filter in it" not in page
    assert f'<input type="hidden" name="view" value="{view.pk}">' in page
    # clearing the filter leaves the view
    assert '<a class="button button--quiet" href="?">Clear</a>' in page

    narrower = f"subset=one&view={view.pk}"
    page = text(client.get(f"{url}?{narrower}"))
    assert ">changed</span>" in page and "Keep the present filter in it" in page
    assert client.post(f"{url}?{narrower}", {"act": "replace"}).url == f"{url}?subset=one&view={view.pk}"
    client.post(f"{url}?{narrower}", {"act": "rename", "name": "Ones"})
    view.refresh_from_db()
    assert (view.name, view.query) == ("Ones", "subset=one")
    assert client.post(f"{url}?{narrower}", {"act": "delete"}).url == f"{url}?subset=one"
    assert not SavedView.objects.exists()
    verbs = AuditEvent.objects.filter(verb__startswith="view.").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["view.save", "view.change", "view.change", "view.delete"]
    gone = client.post(f"{url}?{narrower}", {"act": "rename", "name": "Ones"})
    assert gone.status_code == 400 and "not there any more" in text(gone)


@pytest.mark.postgres
def test_view_keeps_the_typed_name_when_it_is_refused(browse, cast, rows, at, text):
    client, url = browse("admin"), at("trajectories", "bench")
    save(client, url, "subset=one", name="Mine")
    for name, reason in (
        ("Mine", "There is a view “Mine” already."),
        (" ", "Type a name."),
        ("x" * 61, "61"),
    ):
        answer = save(client, url, "subset=two", name=name)
        assert answer.status_code == 400 and reason in text(answer)
        assert f'value="{name}"' in text(answer) and records(answer) == ["two"]
    assert save(client, url, "", name="All").status_code == 400
    assert save(client, url, "subset=none", name="None").status_code == 400
    assert SavedView.objects.count() == 1


def test_view_leaves_out_with_a_sentence_what_the_list_no_longer_knows(browse, cast, rows, at, text):
    client, url = browse("admin"), at("trajectories", "bench")
    save(client, url, "subset=two&sort=-steps&state=labelling", name="Mine")
    SavedView.objects.update(query="subset=two&sort=-steps&state=labelling&colour=red")
    Subset.objects.filter(name="two").update(name="three")
    view = SavedView.objects.get()
    answer = client.get(f"{url}?{view.query}&view={view.pk}")
    page = text(answer)
    assert answer.status_code == 200
    assert "There is no subset “two”. It is left out of the view." in page
    assert "This list has no filter “colour” any more." in page
    # what holds is asked for all the same, and no link leads back to what does not
    assert answer.context["list"].asked["sort"] == "-steps" and 'aria-sort="descending"' in page
    assert answer.context["list"].asked["state"] == "labelling"
    assert "subset=two" not in answer.context["list"].file_address
    # without the view an address still never shows more than it says
    assert client.get(f"{url}?{view.query}").status_code == 400
    client.post(f"{url}?{view.query}&view={view.pk}", {"act": "replace"})
    view.refresh_from_db()
    assert view.query == "state=labelling&sort=-steps"


def test_view_never_shows_labels_by_itself(browse, cast, rows, at, text):
    client, url = browse("admin"), at("trajectories", "bench")
    saved = save(client, url, "labels=1&sort=agreement", name="Worst").url
    assert saved.startswith(f"{url}?labels=1&sort=agreement&view=")
    view = SavedView.objects.get()
    assert view.query == "sort=agreement"
    page = client.get(f"{url}?{view.query}&view={view.pk}")
    assert "Sorting by labels would reveal them: show the labels first." in text(page)
    assert len(records(page)) == 2 and "Agreement</" not in text(page)


def test_view_of_the_project_is_for_all_its_admins_and_another_is_its_owners(
    browse, cast, other_admin, rows, at, text
):
    admin, cleo, url = browse("admin"), browse("cleo"), at("trajectories", "bench")
    save(admin, url, "subset=one", name="Everybody’s", shared="on")
    save(admin, url, "subset=two", name="Hidden")
    page = text(cleo.get(url))
    assert "Everybody’s" in page and "Hidden" not in page
    shared, hidden = SavedView.objects.get(owner=None), SavedView.objects.get(name="Hidden")
    assert "Hidden" not in text(cleo.get(f"{url}?subset=two&view={hidden.pk}"))
    with pytest.raises(Denied):
        service.change_view(actor=other_admin, view=hidden, name="Mine")
    assert "Hidden" not in text(browse("root").get(url))
    cleo.post(f"{url}?subset=one&view={shared.pk}", {"act": "rename", "name": "Ours"})
    assert SavedView.objects.get(owner=None).name == "Ours"
    with pytest.raises(Denied):
        service.save_view(
            actor=cast.ann, project=cast.project, list_name="trajectories", name="a", query="q=a"
        )


def test_views_have_a_limit_and_are_of_one_list(browse, cast, rows, at, text, monkeypatch):
    monkeypatch.setattr(service, "MAX_VIEWS", 1)
    client = browse("admin")
    save(client, at("trajectories", "bench"), "q=a", name="Mine")
    with pytest.raises(Invalid, match="There are 1 views already"):
        service.save_view(
            actor=cast.admin, project=cast.project, list_name="trajectories", name="b", query="q=a"
        )
    save(client, at("audit", "bench"), "verb=import.publish", name="Imports")
    assert "Imports" in text(client.get(at("audit", "bench")))
    assert "Imports" not in text(client.get(at("trajectories", "bench")))
