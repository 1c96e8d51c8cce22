"""Fields and bases that all serializers share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.core.text import unescape
from annotation.core.vocabulary import VALUES, Role
from annotation.language import translated

MAX_BIGINT = 2**63 - 1
MAX_CHOSEN = 500


class Output(serializers.Serializer[Any]):
    """The shape of an answer. Nothing is ever written through a serializer."""


class Input(serializers.Serializer[Any]):
    """The shape of a request body. Unknown keys are refused: a misspelt setting must not pass silently."""

    def to_internal_value(self, data: Any) -> Any:
        """The checked values."""
        values = super().to_internal_value(data)
        unknown = sorted(str(key) for key in data if key not in self.fields)
        if unknown:
            raise serializers.ValidationError({excerpt(key): [_("Unknown field.")] for key in unknown[:20]})
        return values


class Query(serializers.Serializer[Any]):
    """The shape of a query; parameters that mean nothing here are passed over, as everywhere on the web."""


def excerpt(key: str) -> str:
    """A key of somebody's own making, short and harmless enough to be repeated."""
    return key[:80].encode("ascii", "backslashreplace").decode()


class Version(serializers.CharField):
    """The version that somebody began from, in a request to change it."""

    def __init__(self, **kwargs: Any) -> None:
        help_text = (
            "The `version` that one began from. If it is another by now, nothing is saved: 409 "
            "`stale_version`, whose details say what is there. Without it, it is written over."
        )
        super().__init__(required=False, max_length=64, help_text=help_text, **kwargs)


class StoredText(serializers.CharField):
    """A text column that holds the reversible escape of core.text: out goes what came in."""

    def to_representation(self, value: Any) -> str:
        """The text itself."""
        return unescape(str(value))


def sentence(value: str) -> str:
    """A sentence of the domain, stored or just said, in the reader's language."""
    return unescape(translated(value))


class Sentence(StoredText):
    """A sentence of the domain, stored or just said, in the reader's language."""

    def to_representation(self, value: Any) -> str:
        """In words."""
        return sentence(value)


class Whole(serializers.IntegerField):
    """A whole number: JSON's true, 1.0 and "1" are not."""

    def to_internal_value(self, data: Any) -> int:
        """The number."""
        if type(data) is not int:
            self.fail("invalid")
        return super().to_internal_value(data)


class Chosen(serializers.ListField):
    """The ids of chosen rows."""

    def __init__(self, **kwargs: Any) -> None:
        child = Whole(min_value=1, max_value=MAX_BIGINT)
        super().__init__(**{"child": child, "min_length": 1, "max_length": MAX_CHOSEN, **kwargs})


class Refusal(Output):
    """One of the chosen rows with which nothing was done, and why."""

    id = serializers.IntegerField()
    record_id = StoredText()
    code = serializers.CharField()
    message = Sentence()


@extend_schema_field({"type": "array", "items": {"type": "string", "enum": [role.value for role in Role]}})
class Roles(serializers.Field[Any, Any, Any, Any]):
    """The roles of a membership or an invitation, as a list of words; in a row they are three booleans."""

    default_error_messages = {
        "not_a_list": _("Give a list of roles."),
        "unknown": _("Choose from annotator, adjudicator and admin."),
        "empty": _("Choose at least one role."),
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"source": "*", **kwargs})

    def to_representation(self, value: Any) -> list[str]:
        """The words, in the order of the line."""
        return [role.value for role in Role if getattr(value, f"is_{role.value}")]

    def to_internal_value(self, data: Any) -> dict[str, bool]:
        """The three booleans as keyword arguments of a service."""
        if not isinstance(data, list):
            self.fail("not_a_list")
        if not data:
            self.fail("empty")
        names = [role.value for role in Role]
        if any(not isinstance(item, str) or item not in names for item in data):
            self.fail("unknown")
        return {f"is_{name}": name in data for name in names}


@extend_schema_field({"type": "integer", "enum": list(VALUES)})
class Value(serializers.Field[Any, Any, Any, Any]):
    """A label: exactly −1, 0 or 1."""

    default_error_messages = {"invalid": _("A label is −1, 0 or 1.")}

    def to_representation(self, value: int) -> int:
        """The value itself."""
        return value

    def to_internal_value(self, data: Any) -> int:
        """The number; true, 1.0 and "1" are not labels."""
        if type(data) is not int or data not in VALUES:
            self.fail("invalid")
        return data


def words(values: Iterable[Any]) -> list[str]:
    """The plain strings of a StrEnum, for a ChoiceField."""
    return [str(value.value) for value in values]
