"""Set up connections, within what the operator of the server allows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.connections import Connected, Place, kind_named, open_at
from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.kinds import refuse_other
from annotation.core.vocabulary import UNFINISHED_TRANSFERS as UNFINISHED
from annotation.importers import by_name, kind_of
from annotation.models import Connection, Project, PushedRecord, Transfer
from annotation.outside import OperatorRules
from annotation.policies import Actor, recorded, require

from .. import audit

KEY_PREFIX: Final = "TRISTEP_CONNECTION_KEY_"
SETTINGS: Final = ("name", "base_url", "key_name", "source", "filter", "subset", "push_reasons")
_FIXED: Final = ("base_url", "source")
MAX_CONNECTIONS: Final = 50


def operator() -> OperatorRules:
    """The rules of this server's operator."""
    return OperatorRules(
        addresses=settings.CONNECTION_URLS,
        keys=settings.CONNECTION_KEYS,
        key_prefix=KEY_PREFIX,
        networks=settings.PRIVATE_NETWORKS,
    )


def opened(connection: Connection, patience: Any) -> tuple[Connected, Any]:
    """A connection ready to work, and its server, which the caller closes. Raises Invalid: what the operator
    allows is asked again every time."""
    from annotation.outside.server import OutsideServer  # loads httpx, which only workers need

    rules = operator()
    # the one variable that this connection may read, and no other
    name = connection.key_name
    environ = {name: os.environ[name]} if name in os.environ else {}
    key = rules.check(connection.base_url, name, environ)
    server = OutsideServer(
        connection.base_url,
        key=key,
        key_name=name,
        scheme=kind_named(connection.kind).scheme,
        networks=rules.networks,
        patience=patience,
    )
    place = Place(connection.source, connection.filter, connection.uid)
    return open_at(connection.kind, server, place), server


@transaction.atomic
def create_connection(*, actor: Actor, project: Project, kind: str, **values: Any) -> Connection:
    """Make a connection. `values` are its settings by name (`SETTINGS`). Raises Invalid, setting by setting,
    also for an address or a key that the operator does not allow."""
    require(actor, "connections.change", project)
    refuse_other(project.of_kind, kind_of(by_name(kind_named(kind).format)))
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
    if set(changed) & set(_FIXED) and PushedRecord.objects.filter(connection=current).exists():
        raise Conflict(
            translatable("Labels of this project lie there; make another connection for another place."),
            code="has_pushed",
        )
    _save(current, values)
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
    unknown = sorted(set(values) - set(SETTINGS))
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
    if "source" not in fields and not connection.source.isprintable():
        fields["source"] = translatable("Only printable characters.")
    if fields:
        raise Invalid(translatable("The connection could not be saved; check the fields."), fields=fields)
    try:
        with transaction.atomic():
            connection.save(force_insert=force_insert)
    except IntegrityError as error:
        raise Invalid(
            translatable("A connection with this name already exists."),
            fields={"name": translatable("This name is taken; choose another.")},
        ) from error
