"""Where actions are computed: in the worker, or in batches that several workers share."""
