"""The keys of releases: made once, private, replaced and trusted."""

from __future__ import annotations

import stat
from base64 import b64decode, b64encode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from annotation.core.errors import Conflict, Invalid
from annotation.core.releases.signatures import PublicKey, SigningKey
from annotation.core.vocabulary import SignatureState
from annotation.models import AuditEvent
from annotation.policies import OPERATOR
from annotation.services import release
from annotation.services.release import keys
from tests.people import Cast
from tests.services.publishing import freeze

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("own_keys")]


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


@pytest.mark.django_db
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


@pytest.mark.django_db
def test_key_of_another_instance_is_trusted_on_request(resolved: Cast, own_keys: Path) -> None:
    made, public = freeze(resolved.project), keys.signing_key().public
    (own_keys / "release.key").unlink()
    assert release.check_release(made).state is SignatureState.UNKNOWN_KEY

    keys.trust(public.pem)

    assert release.check_release(made).state is SignatureState.VALID
    with pytest.raises(Invalid):
        keys.trust(SigningKey.generate().pem)


@pytest.mark.django_db
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
