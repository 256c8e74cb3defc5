"""Variants of a recipe held against each other."""
