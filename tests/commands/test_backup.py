"""backup and restore: what comes back is what went in, or nothing."""

import errno
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.utils import DatabaseError

from annotation.models import Project, ReleaseLabel, User
from annotation.policies import OPERATOR
from annotation.services import audit, batched_writes, release
from annotation.services.sign_in import second_factor
from annotation.services.sign_in.organisation import PROVIDER
from config.management import archive, restoring
from tests.databases import empty_everything
from tests.people import (
    import_records,
    jsonl,
    make_adjudicated,
    make_cast,
    make_disputed,
    make_record,
    make_unanimous,
    receive,
)

pytestmark = pytest.mark.django_db(transaction=True)

# Python has filters from 3.11.4 on, and asks for one from 3.12 on
SAFELY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
HOSTILE = "nul \x00 surrogate \ud800 <script>"


def contents() -> dict[str, list[dict[str, Any]]]:
    """Every column of every row of ours, as the database holds it."""
    return {
        model._meta.label: [
            {name: bytes(value) if isinstance(value, memoryview) else value for name, value in row.items()}
            for row in model._default_manager.order_by("pk").values()
        ]
        for model in archive.tables()
    }


@pytest.fixture
def project() -> None:
    """A project with a resolved dispute, a release and hostile text."""
    cast = make_cast()
    second_factor.turn_on_app(actor=cast.ann, secret="JBSWY3DPEHPK3PXP")
    SocialAccount.objects.create(user=cast.ann, provider=PROVIDER, uid="a person of the organisation")
    rows = import_records(cast.project, [make_record(0, answer_text=HOSTILE), make_record(1), make_record(2)])
    make_unanimous(cast)
    make_disputed(cast, 2)
    make_adjudicated(cast, rows[1])
    release.freeze(actor=OPERATOR, project=cast.project, version="1.0")
    audit.chain()


@pytest.mark.usefixtures("project")
def test_backup_brings_everything_back_into_an_empty_database_and_releases_are_still_frozen(
    tmp_path: Path,
) -> None:
    before = contents()
    call_command("backup", str(tmp_path / "b.tar.gz"))
    with pytest.raises(CommandError, match="not empty"):
        call_command("restore", str(tmp_path / "b.tar.gz"))
    assert contents() == before
    empty_everything()
    call_command("restore", str(tmp_path / "b.tar.gz"))
    assert contents() == before
    call_command("verify_release", "bench", "1.0")
    assert audit.verify().misfit is None and audit.verify().position
    with pytest.raises(DatabaseError), transaction.atomic():
        ReleaseLabel.objects.update(value=0)
    newest = User.objects.order_by("-pk").values_list("pk", flat=True)[0]
    assert User.objects.create_user("new").pk > newest, "new rows have new keys"


@pytest.mark.once
@pytest.mark.usefixtures("project")
def test_backup_of_a_changed_table_is_noticed_before_a_row_is_restored(tmp_path: Path) -> None:
    path, folder = tmp_path / "b.tar.gz", tmp_path / "open"
    call_command("backup", str(path))
    with tarfile.open(path) as packed:
        packed.extractall(folder, **SAFELY)
    table = folder / "tables" / "label.jsonl"
    table.write_text(table.read_text().replace('"value": 1', '"value": 0', 1))
    with tarfile.open(path, "w:gz") as packed:
        for name in ("tables", "manifest.json"):
            packed.add(folder / name, name)
    empty_everything()
    with pytest.raises(CommandError, match=r"label\.jsonl does not match"):
        call_command("restore", str(path))
    assert not User.objects.exists()


Members = dict[str, bytes]


def repack(path: Path, members: Members, odd: tarfile.TarInfo | None = None) -> None:
    """Write an archive of these members, with checksums that fit unless they are given."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        if odd is not None:
            archive.addfile(odd, io.BytesIO(bytes(odd.size)))


def manifest_with(members: Members, **changes: Any) -> bytes:
    """The manifest of changed members, made to fit them."""
    manifest = json.loads(members["manifest.json"])
    manifest["sha256"] = {
        name: hashlib.sha256(content).hexdigest()
        for name, content in members.items()
        if name != "manifest.json"
    }
    return json.dumps(manifest | changes).encode()


def link(name: str) -> tarfile.TarInfo:
    """A link out of the archive."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
    return info


def long_header() -> tarfile.TarInfo:
    """A member whose extended header would be read into memory."""
    info = tarfile.TarInfo("tables/label.jsonl")
    info.type, info.size = tarfile.XHDTYPE, 1 << 20
    return info


PERSON = b'{"model": "annotation.user", "pk": 1, "fields": {"username": "a", "password": "", %s}}\n'


@pytest.mark.once
@pytest.mark.usefixtures("db")
def test_backup_that_is_hostile_is_refused_in_one_sentence(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "b.tar.gz"
    call_command("backup", str(path))
    with tarfile.open(path) as packed:
        good = {one.name: packed.extractfile(one).read() for one in packed}  # type: ignore[union-attr]
    users, labels = "tables/user.jsonl", "tables/label.jsonl"
    monkeypatch.setattr(archive, "MAX_MANIFEST", 1 << 20)

    def changed(**members: bytes) -> Members:
        """With other tables, whose checksums fit."""
        mixed = good | {f"tables/{name}.jsonl": content for name, content in members.items()}
        return mixed | {"manifest.json": manifest_with(mixed)}

    lacking = {name: content for name, content in good.items() if name != labels}
    cases: list[tuple[str, Members, tarfile.TarInfo | None]] = [
        ("has no checksums", good | {"manifest.json": manifest_with(good, sha256={})}, None),
        ("has no checksums", good | {"manifest.json": manifest_with(good, sha256=[])}, None),
        ("has no tables/label", lacking | {"manifest.json": manifest_with(lacking)}, None),
        ("label.jsonl does not match", good | {labels: b"{}\n"}, None),
        ("does not match", good | {f"uploads/{'0' * 32}.import": b"x"}, None),
        ("no backup", good | {"manifest.json": b"[]"}, None),
        ("no whole backup", good | {"manifest.json": b"[" * 100_000}, None),
        ("no whole backup", {name: content for name, content in good.items() if "tables" in name}, None),
        ("too large", {"manifest.json": bytes(2 << 20)}, None),
        ("another database schema", good | {"manifest.json": manifest_with(good, schema=None)}, None),
        ("how many rows", good | {"manifest.json": manifest_with(good, rows={})}, None),
        ("no part of a backup", good, link("tables/../../etc")),
        ("no part of a backup", good | {"/etc/x": b""}, None),
        ("no plain file", {}, link(labels)),
        ("or there twice", good, tarfile.TarInfo(labels)),
        ("no whole backup", {}, long_header()),
        ("holds a row that is none", changed(user=b"{"), None),
        ("holds a row that is none", changed(user=PERSON % b'"nothing": 1'), None),
        ("holds a row that is none", changed(label=PERSON % b'"email": ""'), None),
        ("holds a row that is none", changed(user=b"\xff\n"), None),
        ("has 1 rows, and should have 0", changed(user=PERSON % b'"email": ""'), None),
    ]
    for sentence, members, odd in cases:
        repack(path, members, odd)
        with pytest.raises(CommandError) as refused:
            call_command("restore", str(path))
        assert sentence in str(refused.value), (sentence, str(refused.value))
        assert "\n" not in str(refused.value)
    assert not User.objects.exists()
    assert users in good

    # what unpacks to more than the disk can take is refused before it is written
    monkeypatch.setattr(archive, "SPARE", 1 << 60)
    repack(path, good)
    with pytest.raises(CommandError, match="more than there is room for"):
        call_command("restore", str(path))


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08\x00truncated"])
def test_backup_that_is_none_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "b.tar.gz"
    path.write_bytes(content)
    with pytest.raises(CommandError, match="no whole backup"):
        call_command("restore", str(path))


@pytest.mark.once
@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("by", ["b.tar.gz", "other.tar.gz"])
def test_backup_whose_restore_was_killed_is_seen_by_nobody_and_completed(
    by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.DATA_DIR = tmp_path
    before = contents()
    call_command("backup", str(tmp_path / "b.tar.gz"))
    (tmp_path / "other.tar.gz").write_bytes((tmp_path / "b.tar.gz").read_bytes() + b"\0")
    empty_everything()
    monkeypatch.setattr(restoring, "BATCH", 3)
    monkeypatch.setattr(batched_writes, "BLOCK_SECONDS", 0.0)

    class Killed(BaseException):
        pass

    original, loaded = restoring.in_blocks, []

    def killed(items: Any, do: Any) -> None:
        def one(item: Any) -> None:
            if len(loaded) == 12:
                raise Killed
            loaded.append(item)
            do(item)

        original(items, one)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(restoring, "in_blocks", killed)
        call_command("restore", str(tmp_path / "b.tar.gz"))
    assert Project.objects.exists() and not User.objects.exists()
    call_command("restore", str(tmp_path / by))

    assert contents() == before
    with pytest.raises(CommandError, match="not empty"):
        call_command("restore", str(tmp_path / "other.tar.gz"))


@pytest.mark.once
@pytest.mark.usefixtures("project")
def test_backup_is_not_restored_over_what_came_after_a_restore_that_was_killed(
    tmp_path: Path, settings: Any
) -> None:
    settings.DATA_DIR = tmp_path
    call_command("backup", str(tmp_path / "b.tar.gz"))
    (tmp_path / "restoring").write_text("another archive")
    before = contents()
    with pytest.raises(CommandError, match="not empty"):
        call_command("restore", str(tmp_path / "b.tar.gz"))
    assert contents() == before


@pytest.mark.once
@pytest.mark.usefixtures("db")
def test_backup_is_restored_by_one_process_at_a_time(tmp_path: Path, settings: Any) -> None:
    settings.DATA_DIR = tmp_path
    call_command("backup", str(tmp_path / "b.tar.gz"))
    with restoring.alone(), pytest.raises(CommandError, match="Another restore"):
        call_command("restore", str(tmp_path / "b.tar.gz"))
    call_command("restore", str(tmp_path / "b.tar.gz"))


@pytest.fixture
def uploads(tmp_path: Path, settings: Any) -> Path:
    """The folder of uploads, with a file that is still arriving."""
    folder = tmp_path / "uploads"
    folder.mkdir()
    settings.UPLOAD_DIR = settings.MEDIA_ROOT = folder
    (folder / f"{'0' * 32}.import").write_bytes(b"half of a fi")
    return folder


def waiting_upload(uploads: Path) -> Path:
    """An upload that waits for its import."""
    source = receive(make_cast().project, jsonl([make_record(0)]))
    return uploads / source.stored_as


def test_backup_holds_the_uploads_that_imports_wait_for_and_none_that_is_still_arriving(
    tmp_path: Path, uploads: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = waiting_upload(uploads)
    content = upload.read_bytes()
    call_command("backup", str(tmp_path / "b.tar.gz"))
    with tarfile.open(tmp_path / "b.tar.gz") as packed:
        assert [name for name in packed.getnames() if name.startswith("uploads/")] == [
            f"uploads/{upload.name}"
        ]
    empty_everything()
    upload.unlink()

    def elsewhere(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    # uploads/ may be a disk of its own, shared by several machines
    monkeypatch.setattr("os.rename", elsewhere)
    call_command("restore", str(tmp_path / "b.tar.gz"))
    assert upload.read_bytes() == content


@pytest.mark.once
def test_backup_survives_an_import_that_ends_meanwhile(tmp_path: Path, uploads: Path) -> None:
    waiting_upload(uploads).unlink()
    call_command("backup", str(tmp_path / "b.tar.gz"))
    empty_everything()
    call_command("restore", str(tmp_path / "b.tar.gz"))
