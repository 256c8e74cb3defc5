"""Tasks in folders: planned, made by shards and by processes, checked, read."""
