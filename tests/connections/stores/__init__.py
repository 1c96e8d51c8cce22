"""Stores: folders and S3, from files to releases."""
