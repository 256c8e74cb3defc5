"""Colours that look in the page as the engine draws them.

The page draws with three.js, which bends every colour by its ACES film curve; what is sent is bent the other way. The
curve cannot reach above 226 of 255: whites are a shade darker in the page, and shaded whites a shade lighter.
C = 3 channels.
"""

import functools

import numpy as np

_EXPOSURE = 1 / 0.6
_INTO_33 = np.array([[0.59719, 0.35458, 0.04823], [0.07600, 0.90834, 0.01566], [0.02840, 0.13383, 0.83777]])
_OUT_OF_33 = np.array([[1.60475, -0.53108, -0.07367], [-0.10208, 1.10813, -0.00605], [-0.00327, -0.07276, 1.07602]])
# (v * (v + A) - B) / (v * (C * v + D) + E), three.js' fit of the film's curve.
_A, _B, _C, _D, _E = 0.0245786, 0.000090537, 0.983729, 0.4329510, 0.238081
_MIDDLE = 0.45  # a colour of the middle stands for all when they are lit


def page_colors(color_XC: np.ndarray) -> np.ndarray:
    """Return the colours to send, uint8 of the same shape, for those that shall be seen, uint8 [..., 3] RGB."""
    bent_XC = _unbent(_linear(color_XC.astype(np.float64) / 255))
    return np.rint(_plain(np.clip(bent_XC, 0.0, 1.0)) * 255).astype(np.uint8)


def page_lights(brightness_X: np.ndarray) -> np.ndarray:
    """Return what linear colours are multiplied with for the light that shall be seen, 0 .. 1; float64."""
    return np.interp(brightness_X, *_light_curve())


@functools.cache
def _light_curve() -> tuple[np.ndarray, np.ndarray]:
    """Return plain shares of light, and what they are in the page."""
    share_N = np.linspace(0.0, 1.0, 257)
    grey_N3 = np.repeat(_linear(share_N * _MIDDLE)[:, None], 3, axis=1)
    bent_N = _unbent(grey_N3).mean(axis=1)
    return share_N, bent_N / bent_N[-1]


def _unbent(seen_XC: np.ndarray) -> np.ndarray:
    """Return linear colours that the curve turns into `seen_XC`, which are linear; not below 0."""
    y_XC = np.clip(seen_XC @ np.linalg.inv(_OUT_OF_33).T, 0.0, 0.99)
    a_XC, b_XC, c_XC = 1 - _C * y_XC, _A - _D * y_XC, -(_B + _E * y_XC)
    v_XC = (-b_XC + np.sqrt(b_XC**2 - 4 * a_XC * c_XC)) / (2 * a_XC)
    return np.maximum(0.0, v_XC @ np.linalg.inv(_INTO_33).T / _EXPOSURE)


def _linear(plain_X: np.ndarray) -> np.ndarray:
    return np.where(plain_X <= 0.04045, plain_X / 12.92, ((plain_X + 0.055) / 1.055) ** 2.4)


def _plain(linear_X: np.ndarray) -> np.ndarray:
    return np.where(linear_X <= 0.0031308, linear_X * 12.92, 1.055 * linear_X ** (1 / 2.4) - 0.055)
