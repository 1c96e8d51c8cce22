"""Keys and signatures of releases: what whoever has the database, but not the key, cannot put right."""

from __future__ import annotations

import json
import stat
from base64 import b64decode, b64encode
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from annotation.core.errors import Conflict, Invalid
from annotation.core.releases.record_format import OLDER_FORMATS, manifest_file
from annotation.core.releases.signatures import PublicKey, SigningKey
from annotation.core.vocabulary import SignatureState
from annotation.models import AuditEvent, Release, ReleaseWithdrawal
from annotation.policies import OPERATOR
from annotation.reports.shared.release_labels import released_labels
from annotation.services import release
from annotation.services.release import keys
from tests.people import Cast
from tests.services.publishing import export, freeze, of_older_format, resealed, tampered

pytestmark = pytest.mark.usefixtures("own_keys")


def found(made: Release, **options: Any) -> release.Verification:
    return release.verify(actor=OPERATOR, release=Release.objects.get(pk=made.pk), **options)


def test_signature_is_of_the_exported_manifest_and_names_the_key(resolved: Cast, tmp_path: Path) -> None:
    made = freeze(resolved.project)
    export(made, tmp_path)

    key = PublicKey.of((tmp_path / "release-key.pem").read_bytes())
    assert key == keys.signing_key().public
    assert key.verifies(
        (tmp_path / "manifest.json.sig").read_bytes(), (tmp_path / "manifest.json").read_bytes()
    )
    checked = found(made)
    assert (checked.ok, checked.signature, checked.fingerprint) == (True, "valid", key.fingerprint)


@pytest.mark.parametrize(
    "changes",
    [
        {"note": "Second."},
        {"guideline_version": 7},
        {"agreement": {"overall": {"kappa": {"value": 0.99}}}},
        {"name": "Another"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_verify_finds_a_manifest_that_was_changed_and_resealed(
    resolved: Cast, changes: dict[str, Any]
) -> None:
    made = freeze(resolved.project, note="First.")

    tampered(made, note=changes.get("note", made.note))
    resealed(made, **changes)

    checked = found(made)
    assert checked.problems == ("The signature is missing or does not match.",)
    assert checked.signature is SignatureState.INVALID


def test_verify_believes_a_stranger_only_when_told_to(resolved: Cast) -> None:
    made, stranger = freeze(resolved.project), SigningKey.generate()

    resealed(made, key=stranger, name="Another")

    checked = found(made)
    assert (checked.ok, checked.signature) == (False, SignatureState.UNKNOWN_KEY)
    assert stranger.public.fingerprint in checked.problems[0]
    assert found(made, key=stranger.public).ok
    other = found(made, key=keys.signing_key().public)
    assert (other.ok, other.signature) == (False, SignatureState.UNKNOWN_KEY)


@pytest.mark.parametrize(
    "signature", [None, "", "{}", "[]", "null", '{"algorithm":"ed25519","public_key":"AA==","signature":""}']
)
def test_verify_misses_a_signature_that_was_taken_away(resolved: Cast, signature: str | None) -> None:
    made = freeze(resolved.project)

    tampered(made, signature=signature)

    assert found(made).signature is SignatureState.INVALID
    assert not found(made).ok


@pytest.mark.parametrize("format", OLDER_FORMATS)
def test_release_of_an_older_format_is_refused_by_its_name(
    resolved: Cast, tmp_path: Path, format: str
) -> None:
    made = freeze(resolved.project)
    of_older_format(made, format)
    after = freeze(resolved.project, "2.0")
    export(after, tmp_path)
    (tmp_path / "manifest.json").write_bytes(manifest_file(json.loads(made.manifest)))

    for read in (
        lambda: found(made),
        lambda: release.verify_export(path=tmp_path),
        lambda: export(made, tmp_path),
        lambda: release.export_zip(actor=OPERATOR, release=made),
        lambda: release.compare(actor=OPERATOR, old=made, new=after),
        lambda: release.statistics(actor=OPERATOR, release=made),
        lambda: released_labels(made),
    ):
        with pytest.raises(Conflict, match=f"the format {format}, which commit 48b59930"):
            read()
    # the next release names it, and holds
    assert found(after).ok


def test_each_manifest_holds_the_digest_of_the_one_before(resolved: Cast) -> None:
    first, second, third = (freeze(resolved.project, version) for version in ("1.0", "2.0", "3.0"))

    manifests = [json.loads(made.manifest) for made in (first, second, third)]
    assert manifests[0]["previous"] is None
    for before, after in pairwise(manifests):
        assert after["previous"] == {key: before[key] for key in ("number", "version", "manifest_sha256")}
    assert all(found(made).ok for made in (first, second, third))
    # even whoever holds the key must sign every later release again
    resealed(second, key=keys.signing_key(), name="Another")
    assert [found(made).ok for made in (first, second, third)] == [True, False, False]


def test_verify_finds_a_withdrawal_that_was_changed(resolved: Cast) -> None:
    made = freeze(resolved.project)
    withdrawal = release.withdraw(actor=OPERATOR, release=made, reason="Faulty.")
    assert found(made).ok

    signature = withdrawal.signature
    for changes in ({"reason": "Nothing."}, {"signature": None}, {"signature": made.signature}):
        tampered(withdrawal, **changes)
        assert found(made).problems == ("The withdrawal does not match its signature.",), changes
        tampered(withdrawal, reason="Faulty.", signature=signature)
    assert found(made).ok
    other = freeze(resolved.project, "2.0")
    tampered(withdrawal, release=other)
    assert not found(other).ok
    assert ReleaseWithdrawal.objects.get().release_id == other.pk


def test_export_is_believed_by_a_known_or_a_named_key(resolved: Cast, own_keys: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    export(freeze(resolved.project), folder)
    own, stranger = keys.signing_key().public, SigningKey.generate()
    assert release.verify_export(path=folder).ok
    assert release.verify_export(path=folder, key=own).ok
    assert not release.verify_export(path=folder, key=stranger.public).ok

    # somewhere else, where nothing is known
    (own_keys / "release.key").unlink()
    checked = release.verify_export(path=folder)
    assert (checked.ok, checked.signature, len(checked.problems)) == (False, SignatureState.UNKNOWN_KEY, 1)
    assert own.fingerprint in checked.problems[0]
    assert release.verify_export(path=folder, key=own).ok
    assert not (own_keys / "release.key").exists()

    for name in ("manifest.json.sig", "release-key.pem"):
        content = (folder / name).read_bytes()
        for changed in (None, b"", b"x" * 64, stranger.public.pem):
            (folder / name).unlink() if changed is None else (folder / name).write_bytes(changed)
            assert not release.verify_export(path=folder, key=own).ok, (name, changed)
            (folder / name).write_bytes(content)


def test_key_is_made_once_for_all_and_readable_by_its_owner_only(own_keys: Path) -> None:
    assert keys.known_keys() == {}
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: keys.signing_key().public.fingerprint, range(8)))

    assert made == set(keys.known_keys()) and len(made) == 1
    assert [path.name for path in own_keys.iterdir()] == ["release.key"]
    assert stat.S_IMODE((own_keys / "release.key").stat().st_mode) == 0o600


def test_key_of_the_environment_takes_the_files_place(own_keys: Path, settings: Any) -> None:
    key = SigningKey.generate()
    der = b64decode(b"".join(key.pem.splitlines()[1:-1]))
    settings.RELEASE_KEY = b64encode(der).decode()

    assert keys.signing_key().public == key.public
    assert list(own_keys.iterdir()) == []
    with pytest.raises(Conflict, match="TRISTEP_RELEASE_KEY"):
        keys.rotate()


def test_key_replaced_signs_from_now_on_and_the_old_one_is_still_believed(
    resolved: Cast, own_keys: Path
) -> None:
    first = freeze(resolved.project)

    old, new = keys.rotate()
    second = freeze(resolved.project, "2.0")

    said = [release.verify(actor=OPERATOR, release=made) for made in (first, second)]
    assert [(one.ok, one.fingerprint) for one in said] == [(True, old.fingerprint), (True, new.fingerprint)]
    assert keys.signing_key().public == new != old
    assert stat.S_IMODE((own_keys / "release.key").stat().st_mode) == 0o600
    assert AuditEvent.objects.get(verb="release_key.rotate").detail["fingerprint"] == new.fingerprint
    # a key that is believed no longer
    (own_keys / "release-keys" / f"{old.fingerprint}.pem").unlink()
    assert release.check_release(first).state is SignatureState.UNKNOWN_KEY


def test_key_of_another_instance_is_trusted_on_request(resolved: Cast, own_keys: Path) -> None:
    made, public = freeze(resolved.project), keys.signing_key().public
    (own_keys / "release.key").unlink()
    assert release.check_release(made).state is SignatureState.UNKNOWN_KEY

    keys.trust(public.pem)

    assert release.check_release(made).state is SignatureState.VALID
    with pytest.raises(Invalid):
        keys.trust(SigningKey.generate().pem)


@pytest.mark.parametrize(
    "content", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"]
)
def test_key_that_cannot_be_read_stops_the_freeze_alone(
    resolved: Cast, own_keys: Path, content: bytes
) -> None:
    made = freeze(resolved.project)
    (own_keys / "release.key").write_bytes(content)

    with pytest.raises(Conflict) as refusal:
        freeze(resolved.project, "2.0")

    assert refusal.value.code == "release_key"
    assert release.check_release(made).state is SignatureState.UNKNOWN_KEY
    assert (own_keys / "release.key").read_bytes() == content


def test_fingerprint_is_of_the_der_form_and_files_are_read_back() -> None:
    # the private key of RFC 8410, section 10.3, and its public half of section 10.1
    private = SigningKey.of(b"MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC")
    pem = b"""-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
"""
    assert private.public.pem == pem
    assert private.public == PublicKey.of(pem) == PublicKey.of(PublicKey.of(pem).der)
    assert SigningKey.of(private.pem).public == private.public
    signature = private.sign(b"data")
    assert private.public.verifies(signature, b"data")
    assert not private.public.verifies(signature, b"date")
    assert not private.public.verifies(signature[:-1], b"data")
