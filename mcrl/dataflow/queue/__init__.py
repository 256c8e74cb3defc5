"""The fragment queue: rows over payloads, leased to consumers; its samplers, its state, and its twin that may die."""
