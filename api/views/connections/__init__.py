"""Connections to servers elsewhere: webhooks."""
