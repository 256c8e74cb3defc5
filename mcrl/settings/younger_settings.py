"""Settings that runs of the first days did not have: a config without one of them has its default."""

from mcrl.settings.ppo_config import LOSS_SETTINGS

YOUNGER_SETTINGS = {
    *("curriculum", "demos", "mirrors", "goal_form", "initial_policy", "pretrained_weights", "rewards"),
    *("optimizer", "dagger_beta", "dagger_keep_steps", "dagger_rounds", "dagger_steps", "dagger_updates"),
    *("ppo_from_dagger", "pair_goals", "pair_coef"),
    *("duration_weighting", "loss", "kl_target", "value_normalisation", "privileged_critic"),
    *(LOSS_SETTINGS.keys() - {"clip_eps"}),  # and so those of a loss that somebody adds
    *("full_share", "num_same_kind", "companion_share"),
    *("report", "report_suite", "exact_resume", "num_evaluators"),
    *("ring_groups", "step_limit_s", "inference", "inference_replicas"),
    *("learner", "deterministic", "device"),
    *("sampler", "collect_limit_s", "exact_staleness"),
    *("weight_sync", "weight_format"),
    *("backend", "engine_python", "engine_options", "engine_device"),
}
