"""Chats in the shapes of model APIs and of training sets."""
