"""What is better known before hours of training than after them: whether a report can be made, what a cluster lacks."""

from mcrl.config import TrainConfig
from mcrl.dataflow.ray.address import choose_cluster


def check_before_hours(config: TrainConfig, *, wants_report: bool, ray_address: str | None) -> None:
    """Raise ValueError, in one sentence, for what would end the run late; connect to the cluster, if one is named."""
    if wants_report:
        from mcrl.commands.evaluation.evaluate import check_report

        check_report(config)
    if ray_address is not None:
        _use_cluster(ray_address, config)


def _use_cluster(address: str, config: TrainConfig) -> None:
    if config.rollout.placement == "inline":
        raise ValueError(f"--ray-address {address}: placement inline uses no cluster; add --placement ray")
    choose_cluster(address)
    from mcrl.assembly import make_policy
    from mcrl.dataflow.ray import runtime  # heavy, and only who names a cluster needs it
    from mcrl.doctor.machine import MAX_STORE_SHARE
    from mcrl.fragment_size import fragment_bytes
    from mcrl.stages.ppo_source import worker_limits
    from policies.threads import use_threads

    # Before a policy is made to be measured: what torch did with other threads first changes how it rounds later.
    use_threads(config.num_threads)
    in_store_bytes = worker_limits(config).max_stored_fragments * fragment_bytes(config, make_policy(config))
    runtime.start(num_workers=config.rollout.num_workers, object_store_bytes=int(in_store_bytes / MAX_STORE_SHARE))
