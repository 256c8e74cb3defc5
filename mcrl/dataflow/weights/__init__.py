"""Weights on their way from the learner to those who act: snapshots, stores, deltas, and when they are taken in."""
