"""Which cluster of Ray this process is to use. Told before Ray is imported: it reads most of this only then."""

import os
from pathlib import Path

from mcrl.config import TrainConfig

# Ray's own variable: `ray job submit` sets it for what it runs.
ADDRESS_VARIABLE = "RAY_ADDRESS"
# What may stand for an address: the cluster that runs on this machine, or a Ray of one's own.
_WORDS = ("auto", "local")


def cluster_of(config: TrainConfig) -> str:
    """Return the address that the environment names for a run's workers; "" for none, or where none is of Ray."""
    has_workers = config.rollout.placement != "inline" and config.ppo.num_iterations > 0
    return os.environ.get(ADDRESS_VARIABLE, "") if has_workers else ""


def token_file() -> Path:
    """Return where Ray keeps the token that clusters ask for; a Ray that it starts by itself makes one."""
    return Path.home() / ".ray" / "auth_token"


def choose_cluster(address: str) -> None:
    """Have `mcrl.dataflow.ray.runtime.start` connect to the cluster at `address`.

    ValueError: it is none that Ray knows, or the token to be shown is empty.
    """
    if ":" not in address and address not in _WORDS:
        raise ValueError(f"--ray-address {address}: no port; give HOST:PORT, 6379 where `ray start --head` named none")
    os.environ[ADDRESS_VARIABLE] = address
    if token_file().is_file():
        if not token_file().read_bytes().strip():
            raise ValueError(
                f"{token_file()}: is empty; copy the file of the cluster's head here again, or delete this one where "
                "the head has none"
            )
        # Ray shows its token to a cluster that it finds by itself, and to one at an address only when told to.
        os.environ.setdefault("RAY_AUTH_MODE", "token")
