"""Set up connections, within what the operator of the server allows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.connections import (
    Connected,
    ConnectionKind,
    Place,
    Store,
    kind_named,
    open_at,
    open_store,
    signer,
)
from annotation.connections.patterns import Pattern
from annotation.core.errors import Conflict, Invalid, TristepError
from annotation.core.i18n import translatable
from annotation.core.judging.addresses import allowed, normalised
from annotation.core.kinds import refuse_other
from annotation.core.releases.exports import export_options
from annotation.core.vocabulary import UNFINISHED_TRANSFERS as UNFINISHED
from annotation.importers import by_name, kind_of
from annotation.models import Connection, Project, PulledFile, PushedRecord, Transfer
from annotation.outside import OperatorRules
from annotation.outside.folders import OutsideFolder
from annotation.policies import Actor, recorded, require

from .. import audit

KEY_PREFIX: Final = "TRISTEP_CONNECTION_KEY_"
SETTINGS: Final = ("name", "base_url", "key_name", "source", "filter", "subset", "push_reasons")
OF_STORES: Final = ("format", "export_format")
_FIXED: Final = ("base_url", "source")
DATA_SET: Final = "huggingface"
HUB: Final = "huggingface"
MAX_CONNECTIONS: Final = 50


def operator() -> OperatorRules:
    """The rules of this server's operator."""
    return OperatorRules(
        addresses=settings.CONNECTION_URLS,
        keys=settings.CONNECTION_KEYS,
        key_prefix=KEY_PREFIX,
        networks=settings.PRIVATE_NETWORKS,
    )


def opened(connection: Connection, patience: Any) -> tuple[Connected | Store, ExitStack]:
    """A connection ready to work, and what the caller closes. Raises Invalid: what the operator allows is
    asked
    again every time."""
    from annotation.outside.server import OutsideServer  # loads httpx, which only workers need

    rules, kind, closing = operator(), kind_named(connection.kind), ExitStack()
    # the one variable that this connection may read, and no other
    name = connection.key_name
    environ = {name: os.environ[name]} if name in os.environ else {}
    key = rules.check(connection.base_url, name, environ)
    place = Place(connection.source, connection.filter, connection.uid, connection.base_url)
    if kind.local:
        root = rules.folder(connection.base_url) or ""
        return open_store(kind.name, OutsideFolder(root, connection.base_url), place), closing
    server = OutsideServer(
        kind.server_of(connection.base_url),
        key=key,
        key_name=name,
        scheme=kind.scheme,
        networks=rules.networks,
        patience=patience,
        sign=signer(kind, key, name),
        others=lambda address: allowed(address, rules.addresses),
    )
    closing.callback(server.close)
    opening = open_store if kind.store else open_at
    return opening(kind.name, server, place), closing


@transaction.atomic
def create_connection(*, actor: Actor, project: Project, kind: str, **values: Any) -> Connection:
    """Make a connection. `values` are its settings by name (`SETTINGS`). Raises Invalid, setting by setting,
    also for an address or a key that the operator does not allow."""
    require(actor, "connections.change", project)
    of_kind = kind_named(kind)
    if not of_kind.store:
        refuse_other(project.of_kind, kind_of(by_name(of_kind.format)))
    if Connection.objects.filter(project=project).count() >= MAX_CONNECTIONS:
        raise Conflict(
            translatable("A project may have at most {n} connections.", n=MAX_CONNECTIONS), code="too_many"
        )
    connection = Connection(project=project, kind=kind, created_by=recorded(actor), created_at=timezone.now())
    _save(connection, values, force_insert=True)
    audit.record(actor=actor, verb="connection.create", project=project, obj=connection, kind=kind)
    return connection


@transaction.atomic
def update_connection(*, actor: Actor, connection: Connection, values: Mapping[str, Any]) -> Connection:
    """Change a connection. Raises Conflict for another place while own labels lie on the present one."""
    require(actor, "connections.change", connection)
    current = Connection.objects.select_for_update(no_key=True).get(pk=connection.pk)
    changed = sorted(name for name, value in values.items() if getattr(current, name, None) != value)
    fixed = set(_FIXED) - ({"source"} if kind_named(current.kind).store else set())
    if set(changed) & fixed and PushedRecord.objects.filter(connection=current).exists():
        raise Conflict(
            translatable(
                "Labels or releases of this project lie there; make another connection for another place."
            ),
            code="has_pushed",
        )
    _save(current, values)
    if "base_url" in changed:
        PulledFile.objects.filter(connection=current).delete()  # files of the same names are others there
    if changed:
        audit.record(
            actor=actor, verb="connection.change", project=current.project, obj=current, fields=changed
        )
    return current


@transaction.atomic
def delete_connection(*, actor: Actor, connection: Connection) -> None:
    """Forget a connection. What was pulled stays here, and what was pushed stays there. Raises Conflict while
    a transfer runs."""
    require(actor, "connections.change", connection)
    Connection.objects.select_for_update().get(pk=connection.pk)
    if Transfer.objects.filter(connection=connection, state__in=UNFINISHED).exists():
        raise Conflict(translatable("A transfer is under way; stop it first."), code="at_work")
    audit.record(
        actor=actor,
        verb="connection.delete",
        project=connection.project,
        obj=connection,
        name=connection.name,
    )
    connection.delete()


def _save(connection: Connection, values: Mapping[str, Any], *, force_insert: bool = False) -> None:
    kind = kind_named(connection.kind)
    unknown = sorted(set(values) - {*SETTINGS, *(OF_STORES if kind.store else ())})
    if unknown:
        raise Invalid(
            translatable("Unknown settings."),
            fields=dict.fromkeys(unknown, translatable("Unknown setting.")),
        )
    for name, value in values.items():
        setattr(connection, name, value.strip() if isinstance(value, str) else value)
    connection.base_url = connection.base_url.rstrip("/")
    fields: dict[str, str] = {}
    try:
        connection.full_clean(
            exclude={"created_by", "project"}, validate_unique=False, validate_constraints=False
        )
    except ValidationError as error:
        fields = {name: " ".join(messages) for name, messages in error.message_dict.items()}
    if not fields.keys() & {"base_url", "key_name"}:
        fields |= operator().problems(connection.base_url, connection.key_name)
        fields |= _misplaced(kind, connection)
    if kind.store:
        fields |= _problems_of_store(connection)
    if "source" not in fields and not connection.source.isprintable():
        fields["source"] = translatable("Only printable characters.")
    if fields:
        raise Invalid(translatable("The connection could not be saved; check the fields."), fields=fields)
    if kind.store:
        connection.export_format = connection.export_format or DATA_SET
    try:
        with transaction.atomic():
            connection.save(force_insert=force_insert)
    except IntegrityError as error:
        raise Invalid(
            translatable("A connection with this name already exists."),
            fields={"name": translatable("This name is taken; choose another.")},
        ) from error


def _misplaced(kind: ConnectionKind, connection: Connection) -> dict[str, str]:
    """The faults of an address that the operator allows, for a connection of this kind."""
    if kind.local != (normalised(connection.base_url) is None):
        wanted = "file:///…" if kind.local else "https://…"
        return {
            "base_url": translatable("The address of this kind of connection is {address}.", address=wanted)
        }
    if kind.local and connection.key_name:
        return {"key_name": translatable("A folder needs no key.")}
    return {}


def _problems_of_store(connection: Connection) -> dict[str, str]:
    """The faults of the settings that only stores have."""
    fields: dict[str, str] = {}
    try:
        if connection.source:
            Pattern(connection.source)
    except Invalid as error:
        fields |= error.fields
    kind = connection.project.of_kind
    try:
        if connection.format:
            refuse_other(kind, kind_of(by_name(connection.format)))
    except Invalid as error:
        fields["format"] = error.fields.get("format", error.message)
    try:
        wanted = export_options({"format": connection.export_format or DATA_SET}).format
        kind.require(wanted.needs)
        if connection.kind == HUB and not wanted.tables:
            fields["export_format"] = translatable("The hub takes formats that are data sets.")
    except TristepError as error:
        fields["export_format"] = error.message
    return fields
