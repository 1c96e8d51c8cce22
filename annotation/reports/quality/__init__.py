"""Quality of labels and of those who give them."""
