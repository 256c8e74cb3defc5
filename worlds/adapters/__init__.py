"""Engines that are not ours, each in a process and an interpreter of its own, behind `worlds.backend.EnvBackend`."""
