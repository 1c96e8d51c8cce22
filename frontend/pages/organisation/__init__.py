"""Adapters of allauth: the organisation's provider, calls to it, and signing in."""
