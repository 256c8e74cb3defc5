"""Seeds of components, derived from one root seed by name."""

import hashlib


def derive_seed(root: int, *names: str | int) -> int:
    """Return the seed of the component called `names` under `root`, 0 .. 2**63 - 1.

    The same arguments give the same seed in every process and on every machine; 1 and "1" are different names.
    """
    digest = hashlib.blake2b(repr((root, *names)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
