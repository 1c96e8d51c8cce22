"""The people of a project: what they learn from and are tested with."""
