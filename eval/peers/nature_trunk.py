"""The network that the training loops of a contest share, up to their heads; it needs torch alone."""

from torch import nn

WIDTH = 512


def nature_trunk() -> nn.Sequential:
    """Return the layers of Mnih et al. 2015: float [N, 3, 84, 84] in, [N, WIDTH] out."""
    return nn.Sequential(
        nn.Conv2d(3, 32, 8, 4),
        nn.ReLU(),
        nn.Conv2d(32, 64, 4, 2),
        nn.ReLU(),
        nn.Conv2d(64, 64, 3, 1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(3136, WIDTH),
        nn.ReLU(),
    )
