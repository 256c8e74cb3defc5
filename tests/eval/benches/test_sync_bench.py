"""Claims about the benches of weight sync and resharding, at sizes of a test."""

import pytest

from eval.benches.reshard_bench import bench_reshard
from eval.benches.rocket_traffic import bench_traffic
from eval.benches.sync_bench import bench_sync, cases
from policies import presets
from tests.policies.rocket_sizes import shrunk_rocket


def test_the_table_has_every_backend_for_every_size_and_number_of_receivers():
    table = cases((10, 20), (1, 2), 20)
    assert {(case.backend, case.num_values, case.num_receivers) for case in table} == {
        (backend, size, count) for backend in ("in-process", "ray", "gloo") for size in (10, 20) for count in (1, 2)
    }
    assert {(case.backend, case.num_values) for case in table if case.weight_format == "delta"} == {
        ("ray", 20),
        ("gloo", 20),
    }


def test_only_what_is_trained_travels_and_its_delta_is_smaller(monkeypatch):
    monkeypatch.setitem(presets.PRESETS, "rocket", shrunk_rocket)
    whole, trained, delta = (row.value for row in bench_traffic(seed=0))
    assert whole == 1.0 < trained < delta


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
def test_sync_bench_measures_every_case_and_counts_its_bytes():
    rows = bench_sync(repeats=1, seed=0, sizes=(1000, 2000), num_receivers=(1, 2), delta_size=2000)
    assert len(rows) == len(cases((1000, 2000), (1, 2), 2000))
    for row in rows:
        mb = row.fields["params_millions"] * 4
        assert row.value > 0
        # Rounded to hundredths; a delta is smaller than the whole by as much as it happens to compress.
        assert row.fields["mb_per_receiver"] <= mb + 0.006


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
def test_reshard_bench_finds_the_formulas():
    for row in bench_reshard(repeats=1, seed=0, presets=("tiny",)):
        assert (row.low, row.high) == (row.fields["formula"], row.fields["formula"])
        assert row.fields["held"] == row.fields["held_formula"]
        assert row.fields["round_trip"] == "exact"
        assert row.fields["logit_difference"] < 1e-5
