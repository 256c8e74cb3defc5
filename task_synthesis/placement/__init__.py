"""Where objects and agents of a task stand, and what can be walked to."""
