"""Claims about what a bench reports."""

import json
import time

from eval.benches.throughput import bench_object, measured, seconds_of


def test_a_measurement_is_the_median_of_its_repeats_with_their_range():
    made = bench_object("sim", [measured("speed", "frames/s", [9.0, 1.0, 2.123456], {"scene": "one"})], seed=7)
    assert made["rows"] == [
        {"metric": "speed", "value": 2.12, "unit": "frames/s", "repeats": 3, "min": 1.0, "max": 9.0, "scene": "one"}
    ]
    assert (made["bench"], made["seed"]) == ("sim", 7)
    assert json.loads(json.dumps(made)) == made


def test_cpu_seconds_are_those_of_work_and_not_of_waiting():
    cpu_s, wall_s = seconds_of(lambda: time.sleep(0.2))
    assert cpu_s < 0.1
    assert wall_s >= 0.2
