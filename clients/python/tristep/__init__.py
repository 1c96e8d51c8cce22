"""A client for Tristep: `Client().projects["apb"].agreement()`; docs/client.md has the whole tour."""

from .client import Client
from .errors import (
    ApiError,
    Conflict,
    Denied,
    Invalid,
    MissingPackage,
    NotConfigured,
    NotFound,
    NotSignedIn,
    StillGoing,
    TooLarge,
    TooMany,
    TristepError,
    Unavailable,
    Unreachable,
    WorkFailed,
)

__all__ = [
    "ApiError",
    "Client",
    "Conflict",
    "Denied",
    "Invalid",
    "MissingPackage",
    "NotConfigured",
    "NotFound",
    "NotSignedIn",
    "StillGoing",
    "TooLarge",
    "TooMany",
    "TristepError",
    "Unavailable",
    "Unreachable",
    "WorkFailed",
]
