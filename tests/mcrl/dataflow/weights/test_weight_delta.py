"""Claims about weights as differences: exact whatever the bits, smaller where little changed, never silently wrong."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mcrl.dataflow.weights import weight_delta
from mcrl.dataflow.weights.weight_delta import apply_delta, encode_delta

bits = st.integers(0, 40).flatmap(
    lambda size: st.tuples(arrays(np.uint32, size), arrays(np.uint32, size))  # NaN, infinities and -0.0 among them
)


def normal(size, spread, seed):
    return (np.random.default_rng(seed).standard_normal(size) * spread).astype(np.float32)


def restored(base_P, delta):
    out_P = np.empty_like(base_P)
    apply_delta(base_P, delta.packed_N, out_P)
    return out_P


@settings(deadline=None)
@given(bits)
def test_any_bits_become_any_others_exactly(pair):
    base_P, new_P = (part.view(np.float32) for part in pair)
    delta = encode_delta(base_P, new_P, base_version=3)
    assert restored(base_P, delta).tobytes() == new_P.tobytes()
    assert delta.base_version == 3


@pytest.mark.parametrize("size", [1, 999, 1000, 1001, 3500])
def test_chunks_join_without_a_seam_also_in_place(monkeypatch, size):
    monkeypatch.setattr(weight_delta, "_CHUNK_VALUES", 1000)
    base_P, new_P = normal(size, 0.02, 0), normal(size, 0.02, 1)
    delta = encode_delta(base_P, new_P, base_version=0)
    apply_delta(base_P, delta.packed_N, base_P)
    assert base_P.tobytes() == new_P.tobytes()


def test_an_optimizer_step_costs_some_18_bits_a_weight_and_standing_still_next_to_nothing():
    base_P = normal(1 << 18, 0.02, 0)
    step = encode_delta(base_P, base_P + normal(base_P.size, 2e-5, 1), base_version=0)
    assert 14 < 8 * step.packed_N.size / base_P.size < 19
    assert encode_delta(base_P, base_P.copy(), base_version=0).packed_N.size < base_P.size / 100


def test_unlike_weights_cost_no_more_than_a_few_bytes_above_the_whole():
    base_P, new_P = (np.random.default_rng(seed).bytes(4 * (1 << 16)) for seed in (0, 1))
    delta = encode_delta(np.frombuffer(base_P, np.float32), np.frombuffer(new_P, np.float32), base_version=0)
    assert delta.packed_N.size <= len(new_P) + 64


@settings(deadline=None)
@given(st.data())
def test_cut_deltas_are_refused_and_damaged_ones_raise_nothing_else(data):
    base_P = normal(2000, 0.02, 0)
    packed_N = encode_delta(base_P, base_P + normal(2000, 1e-6, 1), base_version=0).packed_N
    cut = data.draw(st.integers(0, packed_N.size - 1))
    out_P = np.empty_like(base_P)
    with pytest.raises(ValueError, match="weight delta"):
        apply_delta(base_P, packed_N[:cut], out_P)
    damaged_N = packed_N.copy()
    damaged_N[data.draw(st.integers(0, packed_N.size - 1))] ^= data.draw(st.integers(1, 255))
    # What still decodes fails by its checksum, see DoubleBuffer.
    with contextlib.suppress(ValueError):
        apply_delta(base_P, damaged_N, out_P)
