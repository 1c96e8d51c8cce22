"""Export a release as files: the AgentProcessBench lines, or a data set (export_dataset.py)."""

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import IO, Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.kinds import Feature
from annotation.core.releases.exports import PLAIN, ExportOptions
from annotation.core.releases.exports.checksums import named_files
from annotation.core.releases.exports.formats.protocols import INDEPENDENT
from annotation.core.releases.exports.layout import (
    CHECKSUMS,
    CHECKSUMS_SIGNATURE,
    CROISSANT,
    EXPORT_KEY,
    README,
)
from annotation.core.releases.record_format import MANIFEST, PUBLIC_KEY, SIGNATURE, file_name, published_line
from annotation.core.vocabulary import ExposureKind
from annotation.models import Exposure, Release, ReleaseRecord, Trajectory, User
from annotation.policies import Actor, require

from .. import audit, exposures
from .documents import documents
from .export_dataset import ExportTarget, damaged, prepare_export, write_dataset
from .verify import bodies

LEFT_BEHIND = (SIGNATURE, PUBLIC_KEY, README, CROISSANT, CHECKSUMS, CHECKSUMS_SIGNATURE, EXPORT_KEY)
"""Files of an older export into the same folder that this one may not have."""


def export_lines(*, actor: Actor, release: Release, subset: str = "") -> Iterator[tuple[str, bytes]]:
    """(subset, line) of every record in the AgentProcessBench shape, streamed; of one subset when it is
    named.

    Permission is asked at once, not when the first line is drawn, and it is noted that the person now knows
    the consensus of these trajectories. Raises Conflict on a damaged record.
    """
    admit(actor=actor, release=release, subset=subset)
    return _lines(release, subset)


def admit(*, actor: Actor, release: Release, subset: str = "", options: ExportOptions = PLAIN) -> None:
    """Raise Denied unless the actor may have this export; then note what a person sees in it: the consensus,
    and with blind labels what annotators said."""
    _check(actor, release, options)
    if isinstance(actor, User):
        kinds = (
            (ExposureKind.CONSENSUS, ExposureKind.LABEL)
            if options.blind_labels
            else (ExposureKind.CONSENSUS,)
        )
        for kind in kinds:
            exposures.expose_all(user=actor, trajectories=unseen(actor, release, subset, kind), kind=kind)


def _check(actor: Actor, release: Release, options: ExportOptions) -> None:
    require(actor, "release.view", release)
    release.project.of_kind.require(options.format.needs)
    if options.protocol == INDEPENDENT:
        release.project.of_kind.require(Feature.PROPAGATION)
    if options.blind_labels:
        # they are by person, if under pseudonyms, and so for who may see pairs of annotators
        require(actor, "agreement.pairs", release)
    release.parsed_manifest()


def unseen(user: User, release: Release, subset: str, kind: ExposureKind) -> QuerySet[Trajectory, int]:
    """The trajectories in a release, or one subset of it, of which a person has not seen this so far."""
    seen = Exposure.objects.filter(user=user, trajectory=OuterRef("pk"), kind=kind)
    frozen = ReleaseRecord.objects.filter(
        release=release, subset=OuterRef("subset__name"), record_id=OuterRef("record_id")
    )
    rows = Trajectory.objects.filter(~Exists(seen), Exists(frozen), project=release.project_id, live=True)
    if subset:
        rows = rows.filter(subset__name=subset)
    return rows.order_by().values_list("pk", flat=True)


def _lines(release: Release, subset: str) -> Iterator[tuple[str, bytes]]:
    for row, body in bodies(release):
        if subset and row.subset != subset:
            continue
        if body is None:
            raise damaged(row.record_id)
        yield row.subset, published_line(json.loads(body))


class _Folder:
    """Writes the files of an export below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[str] = []

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """A new file; the folders that it is in are made."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self.names.append(name)
        with path.open("wb") as out:
            yield out


def export_release(*, actor: Actor, release: Release, options: ExportOptions, output: Path) -> dict[str, Any]:
    """Write an export into the folder `output` (made when missing): the data, `manifest.json`, its signature
    and the public key; of a data set also its card, `croissant.json` and the signed `checksums.json`.

    Each file appears whole or not at all, and what is left of an older export that would be taken for part of
    this one is removed. Returns the manifest. Raises Conflict when the release does not match its own
    checksums, or has a format that is read no more.
    """
    _check(actor, release, options)
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output, prefix=".export-") as scratch:
        folder = Path(scratch)
        names = write_export(release, options, folder, lambda: None)
        _move(folder, names, output)
    audit.record(
        actor=actor, verb="release.export", project=release.project, obj=release, **options.as_json()
    )
    return release.parsed_manifest()


def write_export(
    release: Release, options: ExportOptions, folder: Path, beat: Callable[[], None]
) -> list[str]:
    """Write the files of an export into a folder; their names. `beat` is called after each record and may
    raise.
    The caller has asked permission. Raises as `writer` does."""
    target = _Folder(folder)
    for _ in writer(release, options)(target):
        beat()
    return target.names


def writer(release: Release, options: ExportOptions) -> Callable[[ExportTarget], Iterator[None]]:
    """The writer of an export's files, one record at a time, so that what was written can be sent on.

    A data set is held against its digest at once. Raises Conflict, then or while it writes, for a release
    that does not match its own checksums.
    """
    if options.format.tables:
        return partial(write_dataset, prepare_export(release, options))
    return partial(_write_lines, release)


def _write_lines(release: Release, target: ExportTarget) -> Iterator[None]:
    for name, content in documents(release).items():
        with target.open(name) as out:
            out.write(content)
    stated = {name: entry["sha256"] for name, entry in release.parsed_manifest()["files"].items()}
    written: dict[str, str] = {}
    for subset, lines in groupby(_lines(release, ""), key=itemgetter(0)):
        digest = hashlib.sha256()
        with target.open(file_name(subset)) as out:
            for _subset, line in lines:
                out.write(line)
                digest.update(line)
                yield
        written[file_name(subset)] = digest.hexdigest()
    if written != stated:
        raise Conflict(translatable("The release does not match its checksums; verify it."), code="damaged")


def _move(folder: Path, names: Sequence[str], output: Path) -> None:
    """Put the files where they belong, and take away what an older export left."""
    older = output / CHECKSUMS
    stale = {*LEFT_BEHIND, *(named_files(older.read_bytes()) if older.is_file() else ())} - set(names)
    for name in names:
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).replace(output / name)
    for name in stale - {MANIFEST}:
        (output / name).unlink(missing_ok=True)
