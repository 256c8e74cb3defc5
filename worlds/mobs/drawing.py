"""A drawing in letters, to be laid over a plain picture."""

from dataclasses import dataclass

import numpy as np

from worlds.textures.patterns import TEXTURE_PX, Color, grain, scaled

BLACK: Color = (18, 16, 16)
WHITE: Color = (240, 240, 240)


@dataclass(frozen=True, slots=True)
class Drawing:
    """Rows of letters, each a colour; a dot lets the picture below show.

    There are 8 or 16 rows of 8 or 16 letters, so that a letter is a whole number of texels.
    """

    over: str
    """Name of the plain picture."""
    rows: tuple[str, ...]
    colors: dict[str, Color]

    def on(self, picture_HWC: np.ndarray) -> np.ndarray:
        """Return uint8 [16, 16, 3]: the drawing, enlarged to 16 x 16, over the picture."""
        image_HWC = picture_HWC.copy()
        tall, wide = TEXTURE_PX // len(self.rows), TEXTURE_PX // len(self.rows[0])
        # A little grain, so that large drawn areas do not look like plastic.
        light_HW = 0.97 + 0.06 * grain(self.over, 9)
        for r, line in enumerate(self.rows):
            for c, letter in enumerate(line):
                if letter != ".":
                    color = np.array(self.colors[letter], np.float64)[None, None]
                    image_HWC[r * tall : (r + 1) * tall, c * wide : (c + 1) * wide] = scaled(color, light_HW[r, c])
        return image_HWC
