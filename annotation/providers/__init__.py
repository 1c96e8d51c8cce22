"""The kinds of judge. Each is a file here."""

from .base import Exchange, Failure, FailureKind, Hooks, Provider, Reply, Request, Stopped

__all__ = ["Exchange", "Failure", "FailureKind", "Hooks", "Provider", "Reply", "Request", "Stopped"]
