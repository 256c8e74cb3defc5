"""Tasks as environments: what an episode is, who succeeded, and which task comes next."""
