"""Our training loop at the setting of its peers, by turns with them: `python -m eval.benches.nature_training SEED`."""

import numba
import numpy as np
import torch

from eval.benches.frame_pool_env import FramePoolEnv
from eval.benches.nature_policy import NaturePolicy
from eval.peers import turns
from mcrl.config import PPOConfig, Precision
from mcrl.dataflow.flow import FlowLimits
from mcrl.dataflow.local import LocalSource
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.learning.learner import Learner
from mcrl.rollout.rollout_worker import RolloutWorker
from policies.threads import use_threads


class NatureTraining:
    """The product's own worker, queue, learner and weight store around the shared network and env."""

    def __init__(self, *, precision: Precision, seed: int) -> None:
        """Build all of it."""
        ppo = PPOConfig(
            num_iterations=10**9,  # so that the learning rate stays
            learning_rate=turns.LEARNING_RATE,
            fragment_steps=turns.ROLLOUT_STEPS,
            fragments_per_batch=turns.NUM_ENVS,
            minibatch_sequences=turns.MINIBATCH_FRAMES // turns.ROLLOUT_STEPS,
            num_epochs=1,
            value_warmup_iterations=0,
            discount=turns.DISCOUNT,
            gae_lambda=turns.GAE_LAMBDA,
            clip_eps=turns.CLIP_EPS,
            value_coef=turns.VALUE_COEF,
            entropy_coef=turns.ENTROPY_COEF,
            auxiliary_coef=0.0,
            max_grad_norm=turns.MAX_GRAD_NORM,
            kl_to_reference=None,
            target_kl=None,
        )
        torch.manual_seed(seed)
        self._policy = NaturePolicy()
        self._learner = Learner(self._policy, ppo, precision=precision, seed=seed)
        self._layout = ParamLayout(self._policy)

        def make_worker(worker_id: int, first_sequence: int) -> RolloutWorker:
            return RolloutWorker(
                FramePoolEnv(turns.NUM_ENVS, seed),
                NaturePolicy(),
                None,
                fragment_steps=turns.ROLLOUT_STEPS,
                worker_id=worker_id,
                seed=seed,
                precision=precision,
                first_sequence=first_sequence,
            )

        limits = FlowLimits(
            num_workers=1, envs_per_worker=turns.NUM_ENVS, fragments_per_batch=turns.NUM_ENVS, max_staleness=0
        )
        self._source = LocalSource(make_worker, limits)
        self._publish()

    def iterate(self, num_iterations: int) -> int:
        """Run so many rollouts and updates; return how many frames were learned from."""
        num_frames = 0
        for _ in range(num_iterations):
            fragments = self._source.take(turns.NUM_ENVS)
            metrics = self._learner.update(fragments, self._source.take_refused())
            num_frames += int(metrics["num_steps"])
            self._publish()
        return num_frames

    def _publish(self) -> None:
        self._source.publish(self._layout.snapshot(self._policy, self._learner.iteration))


def main() -> None:
    """Take turns until stdin ends."""
    use_threads(1)
    versions = {"torch": torch.__version__, "numpy": np.__version__, "numba": numba.__version__}
    turns.take_turns(NatureTraining(precision="auto", seed=turns.seed()).iterate, versions)


if __name__ == "__main__":
    main()
