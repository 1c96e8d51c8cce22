"""The public demo: everybody may look and try, in a copy of the demo's database each, and nothing is kept.

This package is also the name of the backend of that database (`base.py`). Decision 78.
"""
