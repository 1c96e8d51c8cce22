"""Rendering of texts, messages, figures and icons on pages."""
