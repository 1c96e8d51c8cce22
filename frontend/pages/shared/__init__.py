"""What pages of several subjects use."""
