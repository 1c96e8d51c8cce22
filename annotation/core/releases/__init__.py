"""What a release holds: its record format, differences, statistics, signatures and exports."""
