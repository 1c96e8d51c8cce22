#!/usr/bin/env python
"""Django's command line for Tristep."""

from config.management.command_line import main

if __name__ == "__main__":
    main()
