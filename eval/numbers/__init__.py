"""What can be said of success rates: intervals, tests, aggregates over seeds, curves."""
