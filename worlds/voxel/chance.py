"""Randomness of a running episode as a pure function of who draws what and when: no state, no order of threads."""

from worlds.voxel.link import Kernel

_LOW_32 = 0xFFFFFFFF


def chance(key, tick, who, what):  # type: ignore[no-untyped-def]
    """Return a random float64 in [0, 1) that depends on four integers: the env's key, the tick, who draws, what for.

    Plain integer arithmetic on 32 bits (two rounds of murmur3's finaliser), so that Python, CPU and GPU agree bit by
    bit.
    """
    bits = (key ^ (tick * 0x9E3779B1)) & _LOW_32
    bits = ((bits ^ (bits >> 16)) * 0x7FEB352D) & _LOW_32
    bits = ((bits ^ (bits >> 15)) * 0x846CA68B) & _LOW_32
    bits = ((bits ^ (bits >> 16)) ^ (who * 0x85EBCA6B) ^ (what * 0xC2B2AE35)) & _LOW_32
    bits = ((bits ^ (bits >> 16)) * 0x7FEB352D) & _LOW_32
    bits = ((bits ^ (bits >> 15)) * 0x846CA68B) & _LOW_32
    return ((bits ^ (bits >> 16)) & _LOW_32) / 4294967296.0


SOURCES: tuple[Kernel, ...] = (chance,)
