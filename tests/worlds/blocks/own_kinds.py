"""Blocks that Java Edition 1.16.5 does not have: what is published says nothing of them, so nothing is compared.

A new kind of the game's does not belong here: without it the tests fail until the golden files are renewed.
"""

from worlds.blocks import BLOCKS

OWN_KINDS: frozenset[str] = frozenset()
MINECRAFTS_KINDS = tuple(kind for kind in BLOCKS if kind.name not in OWN_KINDS)
