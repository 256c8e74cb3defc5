"""What a run can be told, by part; mcrl.config puts the parts together."""
