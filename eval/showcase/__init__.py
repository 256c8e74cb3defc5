"""Pictures that show what the engine and the tasks look like."""
