"""Two windows at once: one reveals, one saves; nothing is lost and the blind value is the one from before."""

from __future__ import annotations

import pytest

from annotation.models import Exposure, LabelEvent
from tests import people
from tests.people import change
from tests.services.revealing import kept, opened, reveal
from tests.services.saving import save
from tests.services.together import refused, together

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def test_reveal_and_a_save_at_once_lose_nothing_and_keep_the_value_from_before() -> None:
    cast = people.make_cast()
    mine = opened(cast, steps=2)
    save(mine, change(2, 1))
    for version in range(1, 5):
        results = together(
            lambda: reveal(mine, 2),
            lambda version=version: save(mine, change(2, -1 if version % 2 else 1, version=version)),
            lambda: reveal(mine, 2),
        )
        assert refused(results) == []
        value, blind, exposed = kept(mine, 2)
        assert value == (-1 if version % 2 else 1)
        event = LabelEvent.objects.get(assignment=mine, kind="reveal")
        assert (blind, exposed) == (event.value, True), "the blind value is what was stored before the reveal"
    assert Exposure.objects.filter(user=cast.ann, kind="suggestion").count() == 1


def test_first_label_and_always_at_once_is_blind_exactly_if_it_came_first() -> None:
    cast = people.make_cast()
    mine = opened(cast, "always", steps=2)

    results = together(lambda: reveal(mine, everything=True), lambda: save(mine, change(2, 1)))

    assert refused(results) == []
    events = list(LabelEvent.objects.filter(step__message_index=2).values_list("kind", flat=True))
    blind = 1 if events == ["save", "reveal"] else None
    assert kept(mine, 2) == (1, blind, True)
