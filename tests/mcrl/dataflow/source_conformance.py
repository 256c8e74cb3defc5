"""What a learner may rely on, wherever its fragments come from: one suite for all sources."""

import pytest

from mcrl.dataflow.flow import FlowStart
from tests.mcrl.dataflow.corridor_source import BATCH, ENVS, NUM_WORKERS, STEPS, snapshot


def are_balanced(counts):
    return (
        counts.started == counts.produced + counts.lost + counts.running
        and counts.produced == counts.consumed + sum(counts.dropped.values()) + counts.waiting + counts.leased
    )


def next_versions(source, num_versions):
    first = source.counts().consumed // BATCH
    return range(first, first + num_versions)


class SourceConformance:
    """What the learner may rely on, wherever its fragments come from."""

    @classmethod
    def make(cls, start=None, max_staleness=0):
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def source(cls):
        """Return one synchronous source for all tests of the class: starting Ray workers takes seconds."""
        source = cls.make()
        yield source
        source.close()

    def test_a_batch_is_complete_and_made_with_the_published_weights(self, source):
        for version in next_versions(source, 2):
            source.publish(snapshot(version))
            fragments = source.take(BATCH)
            assert len(fragments) == BATCH
            assert {(f.min_version, f.max_version) for f in fragments} == {(version, version)}
            assert all(f.num_steps == STEPS for f in fragments)

    def test_each_env_counts_its_fragments_without_gaps(self, source):
        versions = next_versions(source, 3)
        seen = {}
        for version in versions:
            source.publish(snapshot(version))
            for fragment in source.take(BATCH):
                seen.setdefault((fragment.worker_id, fragment.env_index), []).append(fragment.sequence)
        assert len(seen) == NUM_WORKERS * ENVS
        assert all(sequences == list(versions) for sequences in seen.values())
        assert source.high_water_marks() == dict.fromkeys(seen, versions[-1])

    def test_the_books_balance_and_synchronous_means_no_work_ahead(self, source):
        for version in next_versions(source, 2):
            source.publish(snapshot(version))
            source.take(BATCH)
            counts = source.counts()
            assert are_balanced(counts)
            assert counts.consumed == counts.started == (version + 1) * BATCH
            assert counts.dropped == {}

    def test_a_restored_source_goes_on_where_it_stopped(self):
        marks = {(worker, env): 6 for worker in range(NUM_WORKERS) for env in range(ENVS)}
        source = self.make(start=FlowStart(version=7, high_water_marks=marks))
        try:
            source.publish(snapshot(7))
            assert {f.sequence for f in source.take(BATCH)} == {7}
            assert source.counts().consumed == BATCH
        finally:
            source.close()

    def test_closing_twice_is_fine(self):
        source = self.make()
        source.close()
        source.close()
