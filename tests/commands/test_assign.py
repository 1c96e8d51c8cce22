"""`assign`: places shared out beforehand, and taken back."""

from __future__ import annotations

import pytest
from django.core.management import CommandError

from annotation.models import Reservation
from tests import people
from tests.commands.calling import run

pytestmark = pytest.mark.django_db


def test_assign_shares_all_places_out_and_takes_them_back() -> None:
    cast = people.make_cast()
    people.import_records(cast.project, 6)
    assert "12 places of 6 trajectories assigned: ann 4, ben 4, cleo 4." in run("assign", "bench").err
    assert "4 trajectories withdrawn" in run("assign", "bench", "--withdraw", "--annotators", "ann").err
    assert "4 places of 4 trajectories" in run("assign", "bench", "--annotators", "ann,ben").err
    assert Reservation.objects.count() == 12
    with pytest.raises(CommandError, match="There is no account “dora”"):
        run("assign", "bench", "--annotators", "dora")
    with pytest.raises(CommandError, match="no annotator"):
        run("assign", "bench", "--annotators", "judith")
