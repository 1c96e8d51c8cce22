"""Logs of coding agents."""
