"""Zip archives from outside: what is read of them, and what is refused before it costs anything."""

import io
import tracemalloc
import zipfile

import pytest

from annotation.importers.parts import archive
from annotation.importers.parts.archive import Archive, BadArchive, names_in

from .archives import zip_of

LIMIT = 1 << 20


def opened(data: bytes) -> Archive:
    return Archive(io.BytesIO(data))


@pytest.mark.parametrize("method", [0, 8, 93])
def test_archive_gives_the_bytes_of_its_members(method: int) -> None:
    members = {"a.json": b"{}" * 50_000, "empty": b"", "d/b.json": bytes(range(256)) * 99}
    found = opened(zip_of(members, method=method))
    assert {info.filename: found.read(info, LIMIT) for info in found.members} == members


def test_archive_written_by_zipfile_is_read_as_zipfile_reads_it() -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as out:
        out.mkdir("folder")
        out.writestr("folder/a.json", "[1]")
    found = opened(data.getvalue())
    assert [found.read(info, LIMIT) for info in found.members] == [b"[1]"]
    assert names_in(data.getvalue()) == ["folder/", "folder/a.json"]


def test_archive_member_that_holds_more_than_it_declares_is_not_read_on() -> None:
    for method in (8, 93):
        bomb = opened(zip_of({"a": b"\0" * 5_000_000}, method=method, declared=10))
        tracemalloc.start()
        with pytest.raises(BadArchive, match=r"more than it declares|damaged"):
            bomb.read(bomb.members[0], LIMIT)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
        tracemalloc.stop()


def test_archive_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "RATIO_COUNTS_FROM", 1_000_000)
    monkeypatch.setattr(archive, "MAX_RATIO", 100)
    with pytest.raises(BadArchive, match="the archive unpacks to 4 MB, which is more than is read"):
        opened(zip_of({"a": b"\0" * 5_000_000}))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"PK\x03\x04", "the archive is cut off"),
        (zip_of({"a": b"x" * 100})[:-30], "the archive is cut off"),
        (zip_of({"a": b"x"}).replace(b"PK\x01\x02", b"PK\x01\x03"), "its directory cannot be read"),
        (zip_of({f"{n}.json": b"" for n in range(25_001)}), r"25,001 members; at most 25,000"),
    ],
)
def test_archive_that_is_broken_is_refused_in_words(data: bytes, sentence: str) -> None:
    with pytest.raises(BadArchive, match=sentence):
        opened(data)


def test_archive_whose_members_overlap_is_refused() -> None:
    data = bytearray(zip_of({"a": b"x" * 1000, "b": b"y" * 1000}, method=0))
    second = data.rfind(b"PK\x01\x02")
    data[second + 42 : second + 46] = (4).to_bytes(4, "little")
    with pytest.raises(BadArchive, match="overlap"):
        opened(bytes(data))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (zip_of({"a": b"x"}, flags=1), "is encrypted"),
        (zip_of({"a": b"x" * LIMIT}), "is larger than"),
        (zip_of({"a": b"x"}, method=99), r"is compressed in a way \(method 99\) that is not read"),
        (zip_of({"abc": b"xyz"}, method=0).replace(b"abcxyz", b"abcxyy"), "its bytes are damaged"),
        (zip_of({"abc": b"xyz" * 50}, method=93).replace(b"(\xb5/\xfd", b"(\xb5/\xfe"), "damaged"),
    ],
)
def test_archive_member_that_is_bad_is_refused_in_words(data: bytes, sentence: str) -> None:
    found = opened(data)
    with pytest.raises(BadArchive, match=sentence):
        found.read(found.members[0], 1000)
