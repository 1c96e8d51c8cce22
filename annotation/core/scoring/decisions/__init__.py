"""Answers of models to decisions, and the facts of a release about them besides labels, as arrays."""
