"""The audit log as admins read it: filters, links to what is still there, CSV."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime

import pytest

from annotation.models import AuditEvent, ImportFile, Membership
from annotation.policies import OPERATOR
from annotation.services import projects, release
from tests import people
from tests.databases import lifted


def verbs(response) -> list[str]:
    return [row.verb for row in response.context["page"]]


def test_audit_log_leads_to_its_objects_as_long_as_they_are_there(browse, cast, at, text):
    trajectory = people.import_records(cast.project, 1)[0]
    people.make_unanimous(cast)
    release.freeze(actor=cast.admin, project=cast.project, version="1.0")
    projects.write_guidelines(actor=cast.admin, project=cast.project, text="New.")
    client, url = browse("admin"), at("audit", "bench")
    page = text(client.get(url))
    source, cleo = ImportFile.objects.get(), Membership.objects.get(user=cast.cleo)
    for link in (
        at("trajectory", "bench", trajectory.pk),
        at("release", "bench", "1.0"),
        at("import-detail", "bench", source.pk),
        at("guidelines", "bench") + "?version=2",
        at("members", "bench") + f"#member-{cleo.pk}",
    ):
        assert f'href="{link}"' in page, link
        assert client.get(link.partition("#")[0]).status_code == 200, link
    projects.remove_member(actor=OPERATOR, membership=cleo)
    assert f"#member-{cleo.pk}" not in text(client.get(url))


def test_audit_log_does_not_lead_to_a_trajectory_that_its_reader_labels(browse, cast, at, text):
    Membership.objects.filter(user=cast.admin).update(is_annotator=True)
    trajectory = people.import_records(cast.project, 1)[0]
    people.label_next(cast.ann, cast.project)
    people.claim(cast.admin, cast.project)
    page = text(browse("admin").get(at("audit", "bench") + "?verb=assignment.submit"))
    assert "submitted a trajectory" in page
    assert at("trajectory", "bench", trajectory.pk) not in page


def test_audit_log_is_filtered_and_filters_combine(browse, cast, at):
    people.import_records(cast.project, 1)
    people.make_unanimous(cast)
    with lifted():
        AuditEvent.objects.filter(verb="assignment.submit", actor=cast.ben).update(
            created_at=datetime(2026, 3, 2, 23, 59, tzinfo=UTC)
        )
    client, url = browse("admin"), at("audit", "bench")

    def found(query: str) -> list[str]:
        return verbs(client.get(f"{url}?{query}"))

    assert found("verb=assignment.submit") == ["assignment.submit"] * 2
    assert found("who=ann") == ["assignment.submit"]
    assert set(found("who=:operator&object=importfile")) == {"import.receive", "import.publish"}
    assert found("from=2026-03-02&to=2026-03-02") == ["assignment.submit"]
    assert found("to=2026-03-01") == []
    event = AuditEvent.objects.get(verb="assignment.submit", actor=cast.ann)
    assert found(f"object=assignment:{event.object_id}&verb=assignment.submit") == ["assignment.submit"]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("who=oscar", "This log has no person “oscar”."),
        ("verb=sing", "There is no action “sing”."),
        ("from=yesterday", "“yesterday” is not a date; write it as 2026-01-31."),
        ("to=2026-02-31", "“2026-02-31” is not a date; write it as 2026-01-31."),
        ("object=moon", "This log has no object “moon”."),
    ],
)
def test_audit_filter_that_is_unknown_gets_one_sentence(browse, at, text, query, sentence):
    response = browse("admin").get(f"{at('audit', 'bench')}?{query}")
    assert response.status_code == 400
    assert text(response).count(sentence) == 1


def test_audit_export_has_the_same_rows_and_no_formula(browse, cast, at):
    projects.update_project(actor=cast.admin, project=cast.project, values={"name": "Other"})
    url = at("audit-export", "bench")
    response = browse("admin").get(f"{url}?who=admin")
    assert response.streaming
    (row,) = csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode()))
    assert (row["who"], row["action"], row["object_type"]) == ("admin", "project.change", "project")
    assert row["details"] == '{"fields": ["name"]}'


def test_audit_kinds_are_what_services_write():
    from annotation.reports.work.audit_log import AUDITED_TYPES
    from frontend.pages.projects.audit import OBJECTS

    assert set(OBJECTS) == set(AUDITED_TYPES)
    assert {kind.model._meta.model_name: name for name, kind in AUDITED_TYPES.items()} == {
        name: name for name in AUDITED_TYPES
    }
