"""A zip archive of logs: each member is a file of its own, imported whole or not at all."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final, TypedDict, Unpack
from zipfile import ZipInfo

from django.conf import settings

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import HEAD_BYTES
from annotation.importers import FORMATS
from annotation.importers.options import ReadOptions
from annotation.importers.parts.archive import Archive, BadArchive, is_zip
from annotation.importers.parts.folder_layouts import joined, together
from annotation.models import ImportFile, Project
from annotation.policies import Actor, require

from .receive import receive_file

MAX_LOGS: Final = 2_000
MAX_LOG_BYTES: Final = 4 * 1024**3


@dataclass(slots=True)
class ReceivedFiles:
    """The files that were received, and why others of an archive were not: (name, sentence)."""

    files: list[ImportFile] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


class ReceiveOptions(TypedDict, total=False):
    """Options of `receive_file` beside the file."""

    format: str
    replace: bool
    policy_models: Mapping[int, str] | None
    options: ReadOptions
    enqueue: bool


def is_archive_of_logs(head: bytes) -> bool:
    """Whether a file that begins with `head` is a zip archive, and not itself one log (as an `.eval` is)."""
    return is_zip(head) and not any(importer.sniff(head) > 0 for importer in FORMATS.values())


def receive_upload(
    *,
    actor: Actor,
    project: Project,
    subset: str,
    filename: str,
    chunks: Iterable[bytes],
    **how: Unpack[ReceiveOptions],
) -> ReceivedFiles:
    """Receive a file as `receive_file` does, or every log of an archive, named “archive › folder › member”.

    A member of no known format, an archive inside the archive (but for one that is a log itself) and a
    damaged member are refused by name; the others are received. Raises Invalid for an archive that is broken,
    too large, a bomb, or without any log.
    """
    require(actor, "import", project)
    place: dict[str, Any] = {"actor": actor, "project": project, "subset": subset}
    source = iter(chunks)
    head = b""
    while len(head) < HEAD_BYTES and (chunk := next(source, b"")):
        head += chunk
    whole = chain([head], source) if head else source
    if not is_archive_of_logs(head[:HEAD_BYTES]):
        return ReceivedFiles([receive_file(filename=filename, chunks=whole, **place, **how)])
    Path(settings.UPLOAD_DIR).mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=settings.UPLOAD_DIR) as stream:
        for chunk in whole:
            stream.write(chunk)
        return _receive_members(_opened(stream), filename, {**place, **how})


def _opened(stream: BinaryIO) -> Archive:
    try:
        return Archive(stream)
    except BadArchive as bad:
        raise _invalid(bad.args[0]) from bad


def _receive_members(archive: Archive, filename: str, how: dict[str, Any]) -> ReceivedFiles:
    members = _by_name(archive)
    logs = together(members)
    if len(logs) > MAX_LOGS:
        raise _invalid(
            translatable(
                "the archive has {n} files; at most {limit} are imported at once",
                n=f"{len(logs):,}",
                limit=f"{MAX_LOGS:,}",
            )
        )
    received = ReceivedFiles()
    for log in logs:
        name = " › ".join([filename, *log.name.split("/")])[-255:]
        try:
            chunks = _log(joined(log, lambda part: archive.blocks(members[part], MAX_LOG_BYTES)))
            received.files.append(receive_file(filename=name, chunks=chunks, **how))
        except Invalid as refusal:
            received.refused.append((name, refusal.message))
        except BadArchive as bad:
            received.refused.append((name, bad.args[0]))
    if not received.files:
        first = ": ".join(received.refused[0]) if received.refused else ""
        raise _invalid(
            translatable("the archive holds no log that is read; its first file: {why}", why=first)
            if first
            else translatable("the archive is empty")
        )
    return received


def _by_name(archive: Archive) -> dict[str, ZipInfo]:
    """The members by their names, which are shown, tell them apart, and are never used as paths."""
    members: dict[str, ZipInfo] = {}
    for info in archive.members:
        if _passed_over(info.filename):
            continue
        parts = info.filename.replace("\\", "/").split("/")
        name = "/".join(part for part in parts if part not in ("", ".", ".."))
        members[name if name not in members else f"{name} ({len(members) + 1})"] = info
    return members


def _log(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes of a member, unless it is an archive of logs itself."""
    head = b""
    for block in blocks:
        if len(head) < HEAD_BYTES:
            head += block[: HEAD_BYTES - len(head)]
            if len(head) >= HEAD_BYTES and is_archive_of_logs(head):
                raise _nested()
        yield block
    if len(head) < HEAD_BYTES and is_archive_of_logs(head):
        raise _nested()


def _passed_over(name: str) -> bool:
    last = name.rpartition("/")[2]
    return name.startswith("__MACOSX/") or last.startswith(".")


def _nested() -> Invalid:
    return Invalid(translatable("This is an archive inside an archive; unpack it first."), code="nested")


def _invalid(reason: str) -> Invalid:
    sentence = translatable("The file cannot be read: {reason}.", reason=reason)
    return Invalid(sentence, code="bad_archive", fields={"file": sentence})
