"""Claims about the receiver's double buffer."""

import dataclasses

import numpy as np
import pytest

from mcrl.dataflow.weights.double_buffer import DoubleBuffer
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.dataflow.weights.weight_delta import encode_delta
from tests.mcrl.dataflow.weights.weight_watch import make_net, snapshot


@pytest.fixture
def buffer():
    return DoubleBuffer(ParamLayout(make_net()))


def values(buffer):
    return set(buffer.front().unique().tolist())


def test_half_written_weights_are_never_swapped_to(buffer):
    buffer.write_whole(snapshot(1))
    buffer.swap()
    buffer.begin(snapshot(2).header)[:1000] = 2.0
    assert buffer.swap() is None
    assert values(buffer) == {1.0}


def test_weights_that_wait_are_given_up_once_newer_ones_are_written_over_them(buffer):
    buffer.write_whole(snapshot(1))
    buffer.swap()
    buffer.write_whole(snapshot(2))
    assert buffer.held_version() == 2
    buffer.begin(snapshot(3).header)[:1000] = 3.0
    assert buffer.held_version() == 1
    assert buffer.swap() is None
    assert values(buffer) == {1.0}


def test_torn_weights_are_counted_and_never_swapped_to(buffer):
    buffer.write_whole(snapshot(1))
    buffer.swap()
    torn_P = snapshot(2).flat_P.copy()
    torn_P[-1] = 7.0
    assert not buffer.write_whole(dataclasses.replace(snapshot(2), flat_P=torn_P))
    assert (buffer.swap(), buffer.num_torn, buffer.newest_version) == (None, 1, 1)
    assert values(buffer) == {1.0}
    assert buffer.write_whole(snapshot(2))  # sent again


def test_a_newer_version_replaces_one_that_waits(buffer):
    for version in (1, 2, 3):
        assert buffer.write_whole(snapshot(version))
    assert buffer.swap().version == 3
    assert values(buffer) == {3.0}
    assert buffer.swap() is None


def test_a_delta_goes_on_top_of_what_waits_or_else_of_what_is_acted_with(buffer):
    versions = [snapshot(version) for version in (1, 2, 3)]
    deltas = [
        encode_delta(a.flat_P, b.flat_P, base_version=a.version).packed_N
        for a, b in zip(versions, versions[1:], strict=False)
    ]
    buffer.write_whole(versions[0])
    assert buffer.held_version() == 1
    assert buffer.write_delta(versions[1].header, deltas[0])
    buffer.swap()
    assert (values(buffer), buffer.held_version()) == ({2.0}, 2)
    assert buffer.write_delta(versions[2].header, deltas[1])
    assert values(buffer) == {2.0}
    buffer.swap()
    assert values(buffer) == {3.0}


def test_a_delta_on_other_weights_is_torn(buffer):
    base, other, new = snapshot(1), snapshot(5), snapshot(6)
    packed_N = encode_delta(other.flat_P, new.flat_P, base_version=5).packed_N
    buffer.write_whole(base)
    assert not buffer.write_delta(new.header, packed_N)
    assert buffer.num_torn == 1


def test_versions_that_go_back_are_refused(buffer):
    buffer.write_whole(snapshot(4))
    for version in (4, 3):
        with pytest.raises(ValueError, match="arrived after version 4"):
            buffer.write_whole(snapshot(version))


def test_weights_of_other_sizes_and_on_other_frozen_weights_are_refused(buffer):
    with pytest.raises(ValueError, match="same preset"):
        buffer.write_whole(snapshot(1, width=200))
    with pytest.raises(ValueError, match="other frozen weights"):
        buffer.write_whole(dataclasses.replace(snapshot(1), frozen_checksum=1))


def test_nothing_that_never_arrived_can_be_taken_for_weights(buffer):
    assert np.isnan(buffer.front().numpy()).all()
