"""Tristep beside its peers, Label Studio and Potato: `make bench-peers`."""
