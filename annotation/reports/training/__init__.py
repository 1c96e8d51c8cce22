"""Figures and lists of training: keys, and what came of tutorial, tests, gold and pilots."""
