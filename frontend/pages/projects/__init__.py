"""Pages of a project and its people."""
