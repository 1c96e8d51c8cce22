"""Tests of training: keyed trajectories, and what is made of them."""
