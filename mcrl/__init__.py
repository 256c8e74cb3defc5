"""The agent's training, and the command line; knows of nothing but engines, tasks and policies."""

__version__ = "0.1.0"
