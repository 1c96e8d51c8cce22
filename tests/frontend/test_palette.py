"""The command palette: pages, projects and trajectories that a person may open, and no others."""

from __future__ import annotations

import pytest

from tests import people


@pytest.fixture
def entries(browse, at):
    """The titles and addresses that somebody is offered."""

    def offered(who: str, **asked: str) -> dict[str, str]:
        answer = browse(who).get(at("palette"), asked).json()
        return {entry["title"]: entry["url"] for entry in answer["entries"]}

    return offered


def test_palette_offers_the_pages_that_its_reader_may_open(cast, entries, at):
    people.make_member(people.make_project("other"), cast.ann, "annotator")
    ann, admin = entries("ann", project="bench"), entries("admin", project="bench")
    assert ann["My work"] == at("work", "bench")
    assert "Settings" not in ann
    assert admin["Settings"] == at("project-settings", "bench")
    assert at("project", "other") in ann.values()
    assert at("project", "other") not in admin.values()
    assert "My work" not in entries("oscar", project="bench")
    assert at("people") in entries("root").values()
    assert at("people") not in ann.values()


def test_palette_finds_trajectories_by_id_on_the_page_where_they_are_read(cast, entries, at):
    row, _other = people.import_records(cast.project, 2)
    mine = people.claim(cast.ann, cast.project)
    part = mine.trajectory.record_id.upper()
    assert entries("ann", project="bench", q=part)[mine.trajectory.record_id] == at("workbench", mine.pk)
    assert entries("admin", project="bench", q=part)[mine.trajectory.record_id] == at(
        "trajectory", "bench", mine.trajectory_id
    )
    others = {row.record_id, _other.record_id} - {mine.trajectory.record_id}
    assert not others & set(entries("ann", project="bench", q="tiny"))
    search = f"{at('search', 'bench')}?q=tiny"
    assert list(entries("cleo", project="bench", q="tiny").values()) == [search]
    assert entries("oscar", project="bench", q="tiny") == entries("ann", q="tiny") == {}
