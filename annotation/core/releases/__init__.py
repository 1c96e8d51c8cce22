"""Contents of a release: record format, differences, statistics, signatures and exports."""
