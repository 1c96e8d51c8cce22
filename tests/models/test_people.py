"""Finding a person by their key."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group

from annotation.models import User
from tests.people import Cast


def test_person_is_found_by_key_and_in_a_relation_only_if_they_are_in_it(cast: Cast) -> None:
    group = Group.objects.create(name="readers")
    group.user_set.add(cast.ben)
    assert User.objects.get(pk=cast.ann.pk) == cast.ann == User.objects.get(pk=str(cast.ann.pk))
    assert group.user_set.get(pk=cast.ben.pk) == cast.ben
    for people, key in ((group.user_set, cast.ann.pk), (User.objects, 0)):
        with pytest.raises(User.DoesNotExist):
            people.get(pk=key)
