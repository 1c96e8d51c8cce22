"""Assigning trajectories from their list."""

from __future__ import annotations

import re

import pytest

from annotation.models import Reservation
from tests import people


def read(client, at):
    """What an annotator reads, without what is drawn for each answer."""
    pages = [client.get(address) for address in (at("home"), at("project", "bench"), at("work", "bench"))]
    assert {page.status_code for page in pages} == {200}
    return [re.sub(rb'value="[^"]{16,}"', b"", page.content) for page in pages]


@pytest.mark.postgres
def test_trajectories_are_assigned_in_the_list_and_their_annotators_are_not_told(browse, cast, at, text):
    rows = people.import_records(cast.project, 4)
    people.label_next(cast.ann, cast.project)
    admin, url, assign = browse("admin"), at("trajectories", "bench"), at("trajectories-assign", "bench")
    told = read(browse("ben"), at)
    chosen = [row.pk for row in rows]
    done = admin.post(f"{assign}?sort=-record", {"chosen": chosen, "assignee": "ann"}, follow=True)
    assert done.redirect_chain[0][0] == f"{url}?sort=-record"
    assert "3 places are assigned: Ann 3." in text(done)
    assert "Ann has labelled this trajectory, or had it before." in text(done)
    assert text(done).count(">assigned: Ann<") == 3
    dealt = admin.post(assign, {"chosen": chosen, "assignee": "*evenly"}, follow=True)
    assert "4 places are assigned: Ben 2, Cleo 2." in text(dealt)
    assert len(admin.get(f"{url}?annotator=cleo").context["page"]) == 2
    csv = b"".join(admin.get(at("trajectories-export", "bench")).streaming_content).decode()
    assert csv.splitlines()[0].split(",")[6:9] == ["annotators", "assigned", "tags"] and "Ann; " in csv
    assert read(browse("ben"), at) == told
    gone = admin.post(assign, {"chosen": chosen, "assignee": "*nobody"}, follow=True)
    assert "4 trajectories are assigned to nobody any more." in text(gone)
    again = admin.post(assign, {"chosen": chosen[:1], "assignee": "*nobody"}, follow=True)
    assert "This trajectory is assigned to none of these people." in text(again)
    assert admin.post(assign, {"chosen": chosen, "assignee": "nobody-here"}).status_code == 404
    assert not Reservation.objects.exists()
