"""Second factors by allauth: their secrets, when one is asked for, and when one is due."""
