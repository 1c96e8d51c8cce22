"""The operator's commands of an installation: accounts, backups, keys, and what shows that releases and the
audit log are as they were written."""
