"""What models say of decisions, and what a release says of them besides labels, as arrays."""
