"""The public address of a release: switched on and off by an admin, read by everybody while it is on.

What is read there is the release itself and nothing else of its project. Whoever reads the labels there while
signed in is noted as having seen them; who is not signed in cannot be.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from annotation.core.releases.statistics import ReleaseStatistics
from annotation.core.vocabulary import ExposureKind
from annotation.models import PublicRelease, Release, User
from annotation.policies import OPERATOR, Actor, Viewer, recorded, require, require_published

from .. import audit, exposures
from .archive import export_zip
from .export import export_lines, unseen
from .outline import statistics


@dataclass(frozen=True, slots=True)
class PublicSwitches:
    """Switches of the public address: whether it is on, shows the leaderboard, and may be listed by search
    engines."""

    is_open: bool = False
    shows_leaderboard: bool = False
    may_be_indexed: bool = False


def switches(release: Release) -> PublicSwitches:
    """The switches of a release's public address: all off, until somebody sets them."""
    row = getattr(release, "public_release", None)
    return PublicSwitches() if row is None else _of(row)


def _of(row: PublicRelease) -> PublicSwitches:
    return PublicSwitches(row.is_open, row.shows_leaderboard, row.may_be_indexed)


@transaction.atomic
def set_public(*, actor: Actor, release: Release, switches: PublicSwitches) -> PublicRelease:
    """Switch the public address of a release on or off. Setting it to what it is changes nothing, and is not
    recorded."""
    require(actor, "release.publish", release)
    row, _made = PublicRelease.objects.select_for_update().get_or_create(
        release=release, defaults={"changed_by": recorded(actor), "changed_at": timezone.now()}
    )
    before = _of(row)
    if before == switches:
        return row
    row.is_open, row.shows_leaderboard = switches.is_open, switches.shows_leaderboard
    row.may_be_indexed = switches.may_be_indexed
    row.changed_by, row.changed_at = recorded(actor), timezone.now()
    row.save()
    audit.record(
        actor=actor,
        verb="release.publish" if switches.is_open else "release.unpublish",
        project=release.project,
        obj=release,
        version=release.version,
        leaderboard=switches.shows_leaderboard,
        indexed=switches.may_be_indexed,
    )
    return row


def public_statistics(release: Release) -> ReleaseStatistics:
    """`statistics` of a release that everybody may read. Raises NotFound when its address is off."""
    require_published(release)
    return statistics(actor=OPERATOR, release=release)


def public_lines(*, viewer: Viewer, release: Release, subset: str = "") -> Iterator[tuple[str, bytes]]:
    """`export_lines` of a release that everybody may read. Raises NotFound when its address is off."""
    _open(viewer, release, subset)
    return export_lines(actor=OPERATOR, release=release, subset=subset)


def public_zip(*, viewer: Viewer, release: Release) -> Iterator[bytes]:
    """`export_zip` of a release that everybody may read. Raises NotFound when its address is off."""
    _open(viewer, release, "")
    return export_zip(actor=OPERATOR, release=release)


def _open(viewer: Viewer, release: Release, subset: str) -> None:
    require_published(release)
    if isinstance(viewer, User):
        rows = unseen(viewer, release, subset, ExposureKind.CONSENSUS)
        exposures.expose_all(user=viewer, trajectories=rows, kind=ExposureKind.CONSENSUS)
