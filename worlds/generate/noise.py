"""Randomness as a pure function of a key and coordinates, and noise that repeats at the border. X Z columns.

Only additions and multiplications of float64 and wrapping integer arithmetic are used: the same key gives the same
bits on every machine.
"""

import numba
import numpy as np

# Odd constants with well spread bits (splitmix64 and the fractional parts of square roots of primes).
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLY_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLY_2 = np.uint64(0x94D049BB133111EB)
_AXIS_B = np.uint64(0xBB67AE8584CAA73B)
_AXIS_C = np.uint64(0x3C6EF372FE94F82B)
_SHIFT_30, _SHIFT_27, _SHIFT_31, _SHIFT_11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_SHIFT_32 = np.uint64(32)

# Perlin noise with these gradients has a standard deviation of 0.17 (50 layers of 128 x 128); scaled it has 0.4.
_PERLIN_SCALE = 2.3


@numba.njit(cache=True, nogil=True)
def hash_bits(key: np.uint64, a: int, b: int, c: int) -> np.uint64:
    """Return 64 random bits that depend on the key and on three integers (splitmix64's finaliser)."""
    bits = np.uint64(key) + np.uint64(a) * _STEP + np.uint64(b) * _AXIS_B + np.uint64(c) * _AXIS_C
    bits = (bits ^ (bits >> _SHIFT_30)) * _MULTIPLY_1
    bits = (bits ^ (bits >> _SHIFT_27)) * _MULTIPLY_2
    return bits ^ (bits >> _SHIFT_31)


@numba.njit(cache=True, nogil=True)
def hash_unit(key: np.uint64, a: int, b: int, c: int) -> float:
    """Return a random number in [0, 1) that depends on the key and on three integers."""
    return float(np.int64(hash_bits(key, a, b, c) >> _SHIFT_11)) * 2.0**-53


@numba.njit(cache=True, nogil=True)
def periodic_noise_XZ(key: np.uint64, size_x: int, size_z: int, wavelength: float) -> np.ndarray:
    """Return Perlin noise, float64 [X, Z], roughly in [-1, 1], that goes on without a seam at the border.

    The lattice takes a whole number of cells, at least 2, along each side: `wavelength` (blocks) is rounded to fit.
    """
    cells_x = max(2, int(size_x / wavelength + 0.5))
    cells_z = max(2, int(size_z / wavelength + 0.5))
    gradient_XZ2 = np.empty((cells_x, cells_z, 2))
    for i in range(cells_x):
        for k in range(cells_z):
            bits = hash_bits(key, i, k, 0)
            gradient_XZ2[i, k, 0] = float(np.int64(bits >> _SHIFT_32)) * 2.0**-31 - 1.0
            gradient_XZ2[i, k, 1] = float(np.int64(bits & np.uint64(0xFFFFFFFF))) * 2.0**-31 - 1.0
    # Every layer is shifted by a random part of a cell: without it all layers are 0 at the same lattice points.
    shift_x = hash_unit(key, 0, 0, 1)
    shift_z = hash_unit(key, 0, 0, 2)
    noise_XZ = np.empty((size_x, size_z))
    for x in range(size_x):
        u = x * cells_x / size_x + shift_x
        i = int(u)
        u -= i
        fade_u = u * u * u * (u * (u * 6.0 - 15.0) + 10.0)
        i0 = i % cells_x
        i1 = (i + 1) % cells_x
        for z in range(size_z):
            v = z * cells_z / size_z + shift_z
            k = int(v)
            v -= k
            fade_v = v * v * v * (v * (v * 6.0 - 15.0) + 10.0)
            k0 = k % cells_z
            k1 = (k + 1) % cells_z
            n00 = gradient_XZ2[i0, k0, 0] * u + gradient_XZ2[i0, k0, 1] * v
            n10 = gradient_XZ2[i1, k0, 0] * (u - 1.0) + gradient_XZ2[i1, k0, 1] * v
            n01 = gradient_XZ2[i0, k1, 0] * u + gradient_XZ2[i0, k1, 1] * (v - 1.0)
            n11 = gradient_XZ2[i1, k1, 0] * (u - 1.0) + gradient_XZ2[i1, k1, 1] * (v - 1.0)
            low = n00 + (n10 - n00) * fade_u
            high = n01 + (n11 - n01) * fade_u
            noise_XZ[x, z] = (low + (high - low) * fade_v) * _PERLIN_SCALE
    return noise_XZ
