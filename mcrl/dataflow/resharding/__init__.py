"""From the learner's shards to those of acting policies, with every byte counted."""
