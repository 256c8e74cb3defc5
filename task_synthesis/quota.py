"""How many tasks of each skill and band are still wanted, so that the shares come out as asked for.

Far starts and small targets are rejected more often than others. Left to chance a library holds fewer of them.
"""

from collections import Counter

import numpy as np

_MOST_FRUITLESS_CANDIDATES = 5_000  # in a row: where one in a thousand succeeded, that would happen to one in 150 cells

Cell = tuple[str, str]  # skill, band


class Quota:
    """The numbers of tasks wanted, accepted and being tried, by (skill, band)."""

    def __init__(
        self, skills: dict[str, float], bands: dict[str, float], *, num_tasks: int, rng: np.random.Generator
    ) -> None:
        """Divide `num_tasks` by the products of the weights; `rng` draws which cells get the odd ones."""
        weights = {
            (skill, band): skills[skill] * bands[band]
            for skill in sorted(skills)
            for band in sorted(bands)
            if skills[skill] * bands[band] > 0
        }
        self._cells: list[Cell] = list(weights)
        self._share_C = np.array(list(weights.values())) / sum(weights.values())
        exact_C = self._share_C * num_tasks
        self._wanted_C = np.floor(exact_C + 1e-9).astype(np.int64)
        order_C = rng.permutation(len(self._cells))
        # The largest remainders first; the drawn order decides among equals.
        order_C = order_C[np.argsort(-np.round(exact_C - self._wanted_C, 9)[order_C], kind="stable")]
        self._wanted_C[order_C[: num_tasks - int(self._wanted_C.sum())]] += 1
        self._accepted_C = np.zeros(len(self._cells), np.int64)
        self._tried_C = np.zeros(len(self._cells), np.int64)
        self._fruitless_C = np.zeros(len(self._cells), np.int64)

    @property
    def num_open(self) -> int:
        """Return how many tasks are neither accepted nor being tried."""
        return int((self._wanted_C - self._accepted_C - self._tried_C).sum())

    def take(self, rng: np.random.Generator, rejections: Counter[str]) -> Cell:
        """Return the cell that is furthest behind, one of them by chance, and count a candidate of it as being tried.

        Raises:
            ValueError: candidates of that cell fail again and again; `rejections` tell the reader why.
        """
        out_C = self._accepted_C + self._tried_C
        lag_C = np.where(out_C < self._wanted_C, self._share_C * (out_C.sum() + 1) - out_C, -np.inf)
        order_C = rng.permutation(len(self._cells))
        cell = int(order_C[np.argmax(np.round(lag_C[order_C], 6))])
        assert out_C[cell] < self._wanted_C[cell], "nothing is open"
        if self._fruitless_C[cell] >= _MOST_FRUITLESS_CANDIDATES:
            skill, band = self._cells[cell]
            raise ValueError(
                f"synthesis: {_MOST_FRUITLESS_CANDIDATES} candidates for skill {skill!r} in band {band!r} gave no task "
                f"(rejections so far: {dict(rejections.most_common(3))}); leave it out or loosen the config"
            )
        self._tried_C[cell] += 1
        self._fruitless_C[cell] += 1
        return self._cells[cell]

    def settle(self, accepted: list[Cell]) -> None:
        """Count the candidates that have become tasks; all the others are no longer tried."""
        for cell in accepted:
            index = self._cells.index(cell)
            self._accepted_C[index] += 1
            self._fruitless_C[index] = 0
        self._tried_C[:] = 0
