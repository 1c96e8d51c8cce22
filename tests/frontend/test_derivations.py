"""Deriving decisions in the browser: what it would bring, whom it leaves, and where it leads."""

from __future__ import annotations

import pytest

from annotation.models import ImportFile
from annotation.services import derive
from tests import people

ASKED = {"into": "choices", "subset": "first", "recipe": "shared", "seed": "7"}


@pytest.mark.usefixtures("choices")
def test_derivation_is_previewed_begun_and_leads_to_its_set(browse, parted_release, at, text):
    client, url = browse("admin"), at("release-derive", "bench", "1.0")
    assert url in text(client.get(at("release", "bench", "1.0")))

    page = client.get(url, ASKED)
    assert (page.context["items"], page.context["preview"].too_few) == (2, 0)
    assert "anyway" not in text(page)
    sent = client.post(url, dict(page.context["kept"]))
    source = ImportFile.objects.get(project__slug="choices")
    assert sent.url == at("import-detail", "choices", source.pk)
    assert source.derived_from["seed"] == 7

    assert "<progress" in text(client.get(sent.url))
    derive.run_import(source_id=source.pk)
    done = text(client.get(sent.url))
    assert "Release 1.0 of bench" in done
    assert f'{at("trajectories", "choices")}?subset=first"' in done
    # its keys are no labels of a file that a judge could suggest
    assert at("import-suggestions", "choices", source.pk) not in done


def test_derivation_asks_before_it_goes_on_with_too_few_people(browse, parted_release, choices, at, text):
    client, url = browse("admin"), at("release-derive", "bench", "1.0")
    choices.memberships.filter(user__username="oscar").delete()

    page = client.get(url, ASKED)
    assert "For 1 of the decisions fewer than 2 annotators are left." in text(page)
    client.post(url, {**dict(page.context["kept"]), "anyway": "on"})
    assert ImportFile.objects.get(project=choices).derived_from["anyway"] is True


def test_derivation_needs_a_project_of_decisions_and_a_release_of_runs(
    browse, cast, parted_release, at, text
):
    url = at("release-derive", "bench", "1.0")
    assert "You administer no project of decisions yet" in text(browse("admin").get(url))
    refused = browse("root").get(url, {**ASKED, "into": "bench"})
    assert (refused.status_code, set(refused.context["form"].errors)) == (400, {"into"})
    people.make_project("theirs", kind="decisions")
    assert list(browse("admin").get(url).context["targets"]) == []
    assert list(browse("root").get(url).context["targets"]) == ["theirs"]
