"""Which placements a machine could run, which of them is fastest, and what more workers would bring."""

import math
from collections.abc import Sequence

from mcrl.planning.components import ComponentTimes
from mcrl.planning.simulator import Deployment, PlacementKind, Prediction, predict

# A simpler placement wins unless another is this much faster: predictions are not better than that.
_WORTH_IT = 1.05
_ORDER: tuple[PlacementKind, ...] = ("inline", "colocated", "split")
# Enough for the steady state, and 10,000 workers still take seconds.
_MAX_COLLECTS = 60_000


def local_placements(times: ComponentTimes, *, max_staleness: int, max_workers: int) -> list[Prediction]:
    """Predict every placement with 1, 2 ... `max_workers` workers that share this machine's cores."""
    predictions = []
    for placement in _ORDER:
        for num_workers in range(1, max_workers + 1):
            if placement == "inline" and num_workers > 1:
                break  # workers of one process take turns: more of them are only more envs
            deployment = Deployment(
                placement=placement,
                num_workers=num_workers,
                max_staleness=max_staleness if placement == "split" else 0,
                num_cores=times.num_cores,
            )
            predictions.append(predict(times, deployment))
    return predictions


def pick(predictions: Sequence[Prediction]) -> Prediction:
    """Return the fastest, or one that is simpler and nearly as fast: an earlier placement, fewer workers."""
    fastest = max(prediction.steps_per_s for prediction in predictions)
    good = [prediction for prediction in predictions if prediction.steps_per_s * _WORTH_IT >= fastest]
    return min(good, key=lambda p: (_ORDER.index(p.deployment.placement), p.deployment.num_workers))


def cluster_scale(
    times: ComponentTimes,
    *,
    max_staleness: int,
    max_workers: int,
    num_learners: int,
    network_bytes_per_s: float,
    num_updates: int = 30,
) -> list[Prediction]:
    """Predict a cluster of 1, 2, 4 ... `max_workers` workers with a core each.

    Batches grow with the workers, so that the staleness gate shuts none out; an update takes longer in proportion.
    """
    counts = [2**power for power in range(max_workers.bit_length())]
    counts = [count for count in counts if count < max_workers] + [max_workers]
    predictions = []
    for num_workers in counts:
        factor = max(1, math.ceil(num_workers * times.envs_per_worker / times.fragments_per_batch))
        collects_per_update = factor * times.fragments_per_batch // times.envs_per_worker
        deployment = Deployment(
            placement="split",
            num_workers=num_workers,
            max_staleness=max_staleness,
            num_cores=None,
            batch_factor=factor,
            num_learners=num_learners,
            network_bytes_per_s=network_bytes_per_s,
        )
        updates = max(2, min(num_updates, _MAX_COLLECTS // collects_per_update))
        predictions.append(predict(times, deployment, num_updates=updates))
    return predictions


def store_bytes(times: ComponentTimes, deployment: Deployment) -> float:
    """Return the bytes of fragments alive at once: ((staleness + 1) * batch + workers * envs) * fragment."""
    waiting = (deployment.max_staleness + 1) * times.fragments_per_batch * deployment.batch_factor
    return (waiting + deployment.num_workers * times.envs_per_worker) * times.fragment_bytes


def until_no_faster(scale: Sequence[Prediction]) -> Sequence[Prediction]:
    """Return predictions for ever more workers up to the first that none after it beats by as much as `pick` heeds."""
    num_shown = next(
        number
        for number, prediction in enumerate(scale, 1)
        if all(later.steps_per_s <= prediction.steps_per_s * _WORTH_IT for later in scale[number:])
    )
    return scale[:num_shown]
