"""Which cluster of Ray this process is to use. Told before Ray is imported: it reads most of this only then."""

import os
from pathlib import Path

# Ray's own variable: `ray job submit` sets it for what it runs.
ADDRESS_VARIABLE = "RAY_ADDRESS"


def token_file() -> Path:
    """Return where Ray keeps the token that clusters ask for; a Ray that it starts by itself makes one."""
    return Path.home() / ".ray" / "auth_token"


def choose_cluster(address: str) -> None:
    """Have `mcrl.dataflow.ray.runtime.start` connect to the cluster at `address`."""
    os.environ[ADDRESS_VARIABLE] = address
    if token_file().is_file():
        # Ray shows its token to a cluster that it finds by itself, and to one at an address only when told to.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
