"""Base classes of the views: fetch through policies.visible, answer in pages, read input strictly."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from operator import attrgetter
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, TypeVar, cast

from django.core.files.uploadedfile import UploadedFile
from django.db.models import BigIntegerField, Model, QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.errors import Invalid, NotFound, TooLarge, TristepError
from annotation.core.label_files import MAX_FILE
from annotation.core.vocabulary import TokenScope
from annotation.models import ApiToken, Project, User
from annotation.policies import visible
from annotation.policies.lookups import visible_project

from ..parsers import Upload

M = TypeVar("M", bound=Model)
IN_MEMORY = 1024 * 1024


def fetch(user: Any, queryset: QuerySet[M], **lookup: Any) -> M:
    """The one visible row of that lookup. Raises NotFound, the same whether it is not there or not to be
    seen."""
    # PostgreSQL cannot even be asked about a NUL; nothing stored has one.
    if any(isinstance(value, str) and "\x00" in value for value in lookup.values()):
        return only_row(queryset.none())
    return only_row(visible(user, queryset).filter(**lookup))


def there(row: M | None) -> M:
    """The row that a `policies.lookups.Lookup` has found. Raises NotFound when it has found nothing."""
    if row is None:
        raise NotFound(_("This does not exist, or you may not see it."))
    return row


def fetch_all(user: Any, queryset: QuerySet[M], keys: Collection[int]) -> list[M]:
    """The visible rows of these keys, by key. Raises NotFound when one is not there or not to be seen."""
    rows = list(visible(user, queryset).filter(pk__in=keys).order_by("pk"))
    if len(rows) < len(set(keys)):
        raise NotFound(_("This does not exist, or you may not see it."))
    return rows


def refusals(
    refused: Iterable[tuple[Model, TristepError]], of: str = "trajectory.record_id"
) -> list[dict[str, Any]]:
    """Refused acts on chosen rows, as `Refusal` shows them; `of`: the record of a row."""
    return [
        {"id": row.pk, "record_id": attrgetter(of)(row), "code": error.code, "message": error.message}
        for row, error in refused
    ]


def only_row(rows: QuerySet[M]) -> M:
    """The one row of a queryset that a policy has narrowed. Raises NotFound without one."""
    return there(rows.order_by("pk").first())


def spooled(file: UploadedFile | Upload, refusal: str) -> BinaryIO:
    """An uploaded label or prediction file, to be read line by line. Raises TooLarge with that sentence."""
    spool = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed with the request
    for chunk in file.chunks():
        if spool.tell() + len(chunk) > MAX_FILE:
            raise TooLarge(refusal)
        spool.write(chunk)
    spool.seek(0)
    return cast(BinaryIO, spool)


class View(GenericAPIView[Any]):
    """A view of the API. `noun` groups its operations in the schema."""

    noun = "api"
    # GET may end in a 409 as well, which the schema then says
    reading_may_conflict = False
    # what a token must be good for to write here; reading needs the least
    writes = TokenScope.ADMIN
    http_method_names = ["get", "head", "post", "patch", "delete"]
    serializer_class: Any = None
    request: Request

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raises NotFound for an id that no row can have, beside what DRF raises."""
        super().initial(request, *args, **kwargs)
        # SQLite cannot even be asked about it
        if any(isinstance(value, int) and value > BigIntegerField.MAX_BIGINT for value in kwargs.values()):
            raise NotFound(_("This does not exist, or you may not see it."))

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Answers are one person's, and of this moment: nobody keeps them."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer.setdefault("Cache-Control", "no-store")
        return answer

    def check_permissions(self, request: Request) -> None:
        """Raises PermissionDenied for a token whose scope is too small, beside what DRF raises."""
        super().check_permissions(request)
        needed = TokenScope.READ if request.method in SAFE_METHODS else self.writes
        if isinstance(request.auth, ApiToken) and not TokenScope(request.auth.scope).covers(needed):
            raise PermissionDenied(
                _("This token has the scope “%(has)s”; this needs “%(needed)s”.")
                % {"has": request.auth.scope, "needed": needed.value},
                code="token_scope",
            )

    @property
    def user(self) -> User:
        """The caller, who is signed in."""
        return self.request.user  # type: ignore[return-value]

    def parsed(self, serializer: type[serializers.Serializer[Any]], **options: Any) -> dict[str, Any]:
        """The request's body, checked. Raises ValidationError."""
        checked = serializer(data=self.request.data, **options)
        checked.is_valid(raise_exception=True)
        return dict(checked.validated_data)

    def query(self, serializer: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        """The request's query, checked. Raises ValidationError."""
        checked = serializer(data=self.request.query_params)
        checked.is_valid(raise_exception=True)
        return dict(checked.validated_data)

    def uploaded(
        self, *, raw: type[serializers.Serializer[Any]], form: type[serializers.Serializer[Any]]
    ) -> tuple[UploadedFile | Upload, dict[str, Any]]:
        """The file of an upload and its options: a form's fields, or the query when the body is the file.

        Raises Invalid without a file, ValidationError for options.
        """
        is_form = (self.request.content_type or "").startswith("multipart/")
        options = self.parsed(form) if is_form else self.query(raw)
        file = self.request.data.get("file") if isinstance(self.request.data, Mapping) else None
        if not isinstance(file, UploadedFile | Upload):
            message = _("Send the file, in the field “file” or as the body.")
            raise Invalid(message, code="empty_file", fields={"file": message})
        return file, options

    def page(
        self,
        rows: QuerySet[Any] | list[Any],
        serializer: type[serializers.BaseSerializer[Any]],
        context: Mapping[str, Any] | None = None,
    ) -> Response:
        """One page of a list."""
        part = self.paginate_queryset(rows)
        values = {**self.get_serializer_context(), **(context or {})}
        return self.get_paginated_response(serializer(part, many=True, context=values).data)


class ProjectView(View):
    """A view of something in one project, named by its slug in the address."""

    def project(self) -> Project:
        """The project. Raises NotFound to whoever is no member of it."""
        return there(visible_project(self.user, self.kwargs["slug"]))
