"""The tests mirror the rooms of the server."""
