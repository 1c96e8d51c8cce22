"""The operator's commands: accounts, backups, protection of releases."""
