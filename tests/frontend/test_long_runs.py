"""Every page that shows a run draws a long one in parts, under the same policies, with the same queries."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Membership
from annotation.policies import OPERATOR
from annotation.services import adjudicate, discuss, projects, release
from tests.callers import signed_in
from tests.fixtures.shared_rows import shared_rows
from tests.people import (
    Cast,
    claim,
    import_records,
    jsonl,
    label_all,
    label_next,
    make_record,
    open_case,
    receive,
    step_indexes,
)

STEPS = 230
LAST = 2 * STEPS
PARTS = (0, 200, 400)
"""Where the run of such a record is cut."""

PAGES = ("reading", "workbench", "case", "discussion", "record", "preview")


@shared_rows
def disputed(cast: Cast) -> Any:
    """A long trajectory on whose last two steps ann and ben differ, as a case of judith's, discussed."""
    (row,) = import_records(cast.project, [make_record(steps=STEPS)])
    ones = [1] * STEPS
    label_next(cast.ann, cast.project, ones, note="CANARY-ANN")
    label_next(cast.ben, cast.project, [*ones[:-2], -1, -1], note="CANARY-BEN")
    case = open_case(cast.judith, row)
    talk = discuss.open_discussion(actor=cast.judith, trajectory=row)
    return row, case, talk


def opened(cast: Cast, page: str, disputed: Any) -> tuple[Client, str]:
    """Somebody who reads the long trajectory on this page, and its address."""
    row, case, talk = disputed
    slug = cast.project.slug
    if page == "reading":
        return signed_in(cast.admin), reverse("frontend:trajectory", args=[slug, row.pk])
    if page == "case":
        return signed_in(cast.judith), reverse("frontend:adjudication", args=[case.pk])
    if page == "discussion":
        return signed_in(cast.ann), reverse("frontend:discussion", args=[talk.pk])
    if page == "record":
        for index in (*step_indexes(row)[-2:], None):
            adjudicate.decide(actor=cast.judith, adjudication=case, message_index=index, value=1)
        adjudicate.close_case(actor=cast.judith, adjudication=case)
        release.freeze(actor=cast.admin, project=cast.project, version="1.0")
        return signed_in(cast.admin), reverse("frontend:release-record", args=[slug, "1.0", 0])
    data = jsonl([make_record(9, steps=STEPS)])
    if page == "preview":
        waits = receive(cast.project, data, actor=cast.admin, subset="s")
        return signed_in(cast.admin), reverse("frontend:import-detail", args=[slug, waits.pk])
    import_records(cast.project, [make_record(9, steps=STEPS)], subset="more")
    mine = claim(cast.cleo, cast.project)
    return signed_in(cast.cleo), reverse("frontend:workbench", args=[mine.pk])


def drawn(page: str) -> tuple[bool, bool, bool]:
    """Whether the first, a middle and the last message are there."""
    return tuple(f'id="m{index}"' in page for index in (4, 300, LAST))  # type: ignore[return-value]


@pytest.mark.parametrize("page", PAGES)
def test_long_run_is_drawn_in_parts_on_every_page(cast: Cast, disputed: Any, page: str) -> None:
    client, url = opened(cast, page, disputed)

    def get(query: str) -> str:
        return client.get(url + query).content.decode()

    whole, middle = get(""), get("?at=300")
    # a case and a discussion begin where something is disputed
    assert drawn(whole) == ((False, False, True) if page in ("case", "discussion") else (True, False, False))
    assert drawn(middle) == (False, True, False)
    assert middle.count('class="run__gap"') == len(PARTS)
    assert "Show messages 0–199" in middle and "Show messages 400–460" in middle
    part = get("?at=300&only=run")
    assert drawn(part) == (False, True, False)
    assert f'data-part="{PARTS[1]}"' in part
    assert "<nav" not in part and "run__gap" not in part


def test_part_that_is_asked_for_oddly_breaks_no_page(cast: Cast, disputed: Any) -> None:
    """One function reads it for all of them (frontend/pages/work/reading.py)."""
    client, url = opened(cast, "reading", disputed)
    for odd in ("-1", "x", "9" * 40, "²"):
        assert client.get(f"{url}?at={odd}").status_code == 200


@pytest.mark.parametrize("page", ["reading", "workbench", "case", "discussion"])
def test_long_run_takes_the_queries_of_a_short_one_and_a_part_no_more(
    cast: Cast, disputed: Any, page: str
) -> None:
    client, url = opened(cast, page, disputed)
    client.get(url)
    counts = []
    for query in ("", "?at=300", "?at=300&only=run"):
        with CaptureQueriesContext(connection) as asked:
            client.get(url + query)
        counts.append(len(asked))
    assert counts[1] == counts[0] <= QUERIES[page]
    assert counts[2] <= counts[0]


QUERIES = {"reading": 27, "workbench": 22, "case": 40, "discussion": 40}


def test_part_of_the_workbench_holds_nobody_elses_labels(cast: Cast) -> None:
    import_records(cast.project, [make_record(steps=STEPS)])
    mine, theirs = claim(cast.ann, cast.project), claim(cast.ben, cast.project)
    address = reverse("frontend:workbench", args=[mine.pk])
    queries = ("?at=300&only=run", "?at=300", "?find=answer")
    before = [signed_in(cast.ann).get(address + query).content for query in queries[::2]]
    label_all(theirs, -1, outcome=-1, note="CANARY-BEN")
    after = [signed_in(cast.ann).get(address + query).content for query in queries[::2]]
    assert before == after
    assert b"CANARY-BEN" not in signed_in(cast.ann).get(address + queries[1]).content
    for query in queries:
        assert signed_in(cast.ben).get(address + query).status_code == 404


def test_part_of_a_trajectory_that_asks_first_holds_no_labels(cast: Cast) -> None:
    """An admin who could still claim it sees no label in any part, until they say so."""

    (row,) = import_records(cast.project, [make_record(steps=STEPS)])
    label_all(claim(cast.ben, cast.project), -1, outcome=-1, note="CANARY-BEN")
    held = Membership.objects.get(user=cast.admin)
    projects.set_roles(actor=OPERATOR, membership=held, is_admin=True, is_annotator=True)
    url = reverse("frontend:trajectory", args=[cast.project.slug, row.pk])
    for query in ("", "?at=300", "?at=300&only=run"):
        assert b"CANARY-BEN" not in signed_in(cast.admin).get(url + query).content
    signed_in(cast.admin).post(url)
    assert b"CANARY-BEN" in signed_in(cast.admin).get(f"{url}?at=300&only=run").content


def strip_of(client: Client, url: str) -> dict[str, Any]:
    """The data of the strip on a page."""
    return json.loads(
        client.get(url).content.decode().split('id="run-strip" type="application/json">')[1].split("<")[0]
    )


@pytest.mark.parametrize("page", ["reading", "workbench", "case", "record"])
def test_strip_has_every_step_and_the_consensus_where_there_is_one(
    cast: Cast, disputed: Any, page: str
) -> None:
    """It is the same whichever part is drawn. Labels of people are nowhere on it: the workbench and a case
    colour it from what their scripts have."""
    client, url = opened(cast, page, disputed)
    strip = strip_of(client, url)
    assert strip == strip_of(client, f"{url}?at=300")
    assert strip["steps"] == [2] * STEPS
    assert strip["calls"] == "1" * (STEPS - 1) + "0"
    assert strip["labels"] == ("p" if page == "record" else "n") * STEPS
    assert "run-strip" not in client.get(f"{url}?only=run").content.decode()


def test_strip_shows_a_consensus_to_nobody_who_may_not_see_it(cast: Cast, disputed: Any) -> None:
    client, record = opened(cast, "record", disputed)
    row = disputed[0]
    reading = reverse("frontend:trajectory", args=[cast.project.slug, row.pk])
    assert set(strip_of(client, reading)["labels"]) == set(strip_of(client, record)["labels"]) == {"p"}
    held = Membership.objects.get(user=cast.admin)
    projects.set_roles(actor=OPERATOR, membership=held, is_admin=True, is_annotator=True)
    import_records(cast.project, [make_record(9, steps=STEPS)], subset="more")
    mine = claim(cast.admin, cast.project)
    label_all(claim(cast.ben, cast.project), -1, outcome=-1)
    own = reverse("frontend:trajectory", args=[cast.project.slug, mine.trajectory_id])
    assert set(strip_of(client, own)["labels"]) == {"n"}


def test_workbench_opens_where_the_work_goes_on(cast: Cast) -> None:
    import_records(cast.project, [make_record(steps=STEPS)])
    mine = claim(cast.ann, cast.project)
    url = reverse("frontend:workbench", args=[mine.pk])
    label_all(mine, [1] * 150 + [None] * (STEPS - 150))  # type: ignore[list-item]
    page = signed_in(cast.ann).get(url)
    assert drawn(page.content.decode()) == (False, True, False)
    state = page.context["state"]
    assert len(state["steps"]) == STEPS
    assert state["steps"][-1] == {"message_index": LAST, "version": 1}


def test_search_goes_through_the_whole_run(cast: Cast, disputed: Any) -> None:
    for page in ("workbench", "case"):
        client, url = opened(cast, page, disputed)
        found = json.loads(client.get(url, {"find": "looking, TIME 200."}).content)["found"]
        assert found == [[402, 1]]
        assert json.loads(client.get(url, {"find": ""}).content)["found"] == []
