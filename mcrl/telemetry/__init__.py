"""What a run says of itself: metrics, status, progress bars, wandb, Prometheus."""
