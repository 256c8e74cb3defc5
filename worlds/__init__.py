"""Pixels and physics; knows nothing of tasks or learning."""

from worlds.kernel_cache import use_cache_of_these_sources

# The one thing done at import: it has to come before the first kernel is declared.
use_cache_of_these_sources()
