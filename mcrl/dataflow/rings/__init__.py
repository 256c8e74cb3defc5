"""Engines that step at their own pace in one worker, and the latencies to try them with."""
