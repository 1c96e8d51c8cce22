"""Helpers of several formats: elements of a large object, archives, blocks of content, trees of spans."""
