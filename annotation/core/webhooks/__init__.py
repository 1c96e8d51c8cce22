"""Webhooks: what an event says, when a delivery is tried again, when a webhook rests."""
