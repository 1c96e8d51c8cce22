"""What a release holds, and what it would hold."""
