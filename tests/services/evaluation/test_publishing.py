"""The public address of a release: switched on and off, recorded, and noted of who reads it signed in."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser

from annotation.core.errors import NotFound
from annotation.core.vocabulary import ExposureKind
from annotation.models import AuditEvent, Exposure, Release
from annotation.policies import OPERATOR
from annotation.reports.evaluation.public_releases import public_leaderboard
from annotation.services import release
from annotation.services.release import PublicSwitches
from tests.people import Cast
from tests.services.publishing import freeze

NOBODY = AnonymousUser()
ON = PublicSwitches(is_open=True)


def read(made: Release, viewer: object = NOBODY) -> bytes:
    """The download of a visitor."""
    return b"".join(line for _subset, line in release.public_lines(viewer=viewer, release=made))  # type: ignore[arg-type]


@pytest.mark.postgres
def test_release_is_public_from_being_switched_on_to_being_switched_off(resolved: Cast) -> None:
    made = freeze(resolved.project)
    for reading in (read, release.public_statistics, public_leaderboard):
        with pytest.raises(NotFound):
            reading(made)

    row = release.set_public(actor=resolved.admin, release=made, switches=ON)
    again = release.set_public(actor=resolved.admin, release=made, switches=ON)

    made = Release.objects.get(pk=made.pk)
    assert (row.pk, row.changed_at) == (again.pk, again.changed_at)
    assert read(made) == b"".join(line for _, line in release.export_lines(actor=OPERATOR, release=made))
    assert b"".join(release.public_zip(viewer=NOBODY, release=made))[:2] == b"PK"
    assert release.public_statistics(made).records == 3
    assert public_leaderboard(made) is None

    release.set_public(actor=resolved.admin, release=made, switches=PublicSwitches())
    with pytest.raises(NotFound):
        read(made)
    events = AuditEvent.objects.filter(verb__in=("release.publish", "release.unpublish")).order_by("pk")
    assert [event.verb for event in events] == ["release.publish", "release.unpublish"]
    assert events[0].actor == resolved.admin and events[0].detail["version"] == "1.0"


def test_annotator_who_reads_it_signed_in_has_seen_the_consensus(resolved: Cast) -> None:
    made = freeze(resolved.project)
    release.set_public(actor=resolved.admin, release=made, switches=ON)
    seen = Exposure.objects.filter(kind=ExposureKind.CONSENSUS)
    before = seen.count()

    read(made)
    assert seen.count() == before
    read(made, resolved.cleo)
    assert seen.filter(user=resolved.cleo).count() == made.record_count
