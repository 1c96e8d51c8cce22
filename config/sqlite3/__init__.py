"""Django's SQLite backend with a queue before writing (docs/decisions/0022-short-turns-for-writers.md)."""
