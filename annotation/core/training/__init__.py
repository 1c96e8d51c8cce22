"""Labels held against a key: in the tutorial, in tests, as gold (docs/training.md). Pure functions.

`marks` compares labels with a key.
"""
