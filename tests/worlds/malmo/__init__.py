"""A server that speaks Malmo's wire protocol and whose "Minecraft" is our own engine.

The unmodified `minerl` and `minestudio` packages connect to it as to the mod in Mojang's game. What it answers is taken
from the mod's own Java sources, which the sdist of minerl 0.4.4 carries. It proves that an adapter speaks the protocol
and keeps its promises; it does not prove that Mojang's game behaves so.
"""
