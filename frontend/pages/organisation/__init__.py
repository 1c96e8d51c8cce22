"""What allauth is told of this site: the organisation's provider, calls to it, and how people are signed
in."""
