"""What of a metric line a clock says: it differs from run to run where nothing else does."""

CLOCKED = frozenset(
    ("time_s", "take_s", "learn_s", "steps_per_s", "collect_s", "play_s", "elapsed_s", "learner_idle", "workers_idle")
)
