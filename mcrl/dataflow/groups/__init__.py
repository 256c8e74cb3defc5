"""Workers as one object: dispatched calls, and the plan that says which run where."""
