"""Signing in through an organisation: what its provider says of a person, and the roles that follow from
it."""
