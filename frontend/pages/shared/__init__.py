"""Parts that pages of several subjects use."""
