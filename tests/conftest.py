"""What all tests share: one thread for speed on small machines, and one Ray for all tests that need it."""

import logging
import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.compiled_side_by_side import compile_side_by_side

# Suites that other files inherit: their asserts, too, are to say what they found.
for _suite in (
    "worlds.conformance",
    "policies.conformance",
    "mcrl.dataflow.source_conformance",
    "mcrl.dataflow.queue.queue_conformance",
):
    pytest.register_assert_rewrite(f"tests.{_suite}")

# No test may fail for its speed: machines are shared.
settings.register_profile("mcrl", deadline=None)
settings.load_profile("mcrl")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Here, since no test's time limit counts what is compiled for all."""
    compile_side_by_side(session)


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Keep torch from spreading tiny tensors over all cores, which is slower and races with other processes."""
    import torch

    from worlds.numba_threads import begin_threads

    torch.set_num_threads(1)
    begin_threads()


@pytest.fixture(scope="session")
def ray_session() -> Iterator[None]:
    """Start Ray once; a cold start takes seconds."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    os.environ["RAY_raylet_start_wait_time_s"] = "180"  # 30 s are not enough where other programs run
    import ray

    ray.init(
        address="local",  # not a cluster that some other test or program runs here
        num_cpus=8,  # logical: actors of several tests may overlap while they die
        num_gpus=0,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
        object_store_memory=128 * 2**20,
    )
    yield
    ray.shutdown()
