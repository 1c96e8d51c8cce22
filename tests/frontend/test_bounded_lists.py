"""Lists that are longer than their count: every page of them, and a word that there are more."""

from __future__ import annotations

import pytest
from django.core.paginator import Paginator

from annotation.models import Trajectory
from frontend.pages.shared import bounded_paginator
from tests import people
from tests.people import Cast


@pytest.mark.parametrize("far", [1_000, 0], ids=["by-rows", "by-keys"])
def test_a_list_counts_up_to_its_bound_and_has_every_page(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, far: int
) -> None:
    people.import_records(cast.project, 8)
    monkeypatch.setattr(bounded_paginator, "FAR", far)
    rows = Trajectory.objects.order_by("pk")
    exact = Paginator(rows, 3)
    monkeypatch.setattr(bounded_paginator, "COUNTED", 8)
    assert not bounded_paginator.BoundedPaginator(rows, 3).more
    monkeypatch.setattr(bounded_paginator, "COUNTED", 4)
    found = bounded_paginator.BoundedPaginator(rows, 3)
    assert (found.more, found.count) == (True, 4)
    for number in (1, 2, 3):
        page, same = found.get_page(number), exact.get_page(number)
        assert list(page) == list(same)
        assert (page.start_index(), page.end_index()) == (same.start_index(), same.end_index())
        assert (page.has_next(), page.has_previous()) == (same.has_next(), same.has_previous())
    assert found.get_page(2).next_page_number() == 3
    for beyond in ("4", "99999999999", "-1"):
        assert list(found.get_page(beyond)) == list(found.get_page(found.num_pages))
    assert list(found.get_page("x")) == list(exact.get_page(1))
    assert list(bounded_paginator.BoundedPaginator(rows, 3, 8).get_page(3)) == list(exact.get_page(3))


def test_a_long_list_says_that_there_is_more(cast: Cast, browse, at, monkeypatch: pytest.MonkeyPatch) -> None:
    people.import_records(cast.project, people.make_records(55))
    url = at("trajectories", "bench")
    client = browse("admin")
    assert "1 to 50 of 55" in client.get(url).content.decode()
    monkeypatch.setattr(bounded_paginator, "COUNTED", 10)
    first = client.get(url).content.decode()
    assert "1 to 50 of more than 10" in first and 'rel="next"' in first
    last = client.get(url + "?page=2").content.decode()
    assert "51 to 55 of more than 10" in last and 'rel="next"' not in last
