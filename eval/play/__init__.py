"""A person, the expert or a policy at play, in a window or to a video."""
