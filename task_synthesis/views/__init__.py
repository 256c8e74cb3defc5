"""The pictures of a task: where the goal camera stands, what it must show, and what the agent sees at its start."""
