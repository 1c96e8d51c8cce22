"""Answers to questions: their reading, the verdicts on them, and the facts of a release about its
questions."""
