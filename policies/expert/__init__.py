"""The expert that plays every skill from the state of the built-in engine."""

from policies.expert.agent import ExpertAgent

__all__ = ["ExpertAgent"]
