import dataclasses

import pytest

from mcrl.planning.components import read_components
from mcrl.planning.core_count import measure_cores
from mcrl.planning.measure import measure
from mcrl.provenance import num_usable_cores
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import Engines, make_config
from tests.mcrl.planning.test_placement_plan import write_measured


@pytest.mark.parametrize("burn_s", [0.2, 0.0])  # 0: so busy that a process gets no turn in its time
def test_a_machine_gives_no_more_cores_than_it_has(burn_s):
    assert 0 < measure_cores(burn_s) <= num_usable_cores()


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
def test_every_part_of_a_run_is_measured_and_can_be_kept(tmp_path):
    config = make_config(tmp_path)
    config = dataclasses.replace(config, rollout=dataclasses.replace(config.rollout, envs_per_worker=4))
    heard = []
    times = measure(config, repeats=2, on_part=heard.append, parts=CORRIDOR)
    assert heard == ["cores", "tasks", "acting", "learning", "transfer"]
    assert (times.envs_per_worker, times.fragments_per_batch) == (4, 8)
    for name in ("collect_s", "learn_s", "publish_s", "load_s", "receive_s", "fragment_bytes", "weight_bytes"):
        assert getattr(times, name) > 0, name
    assert set(times.detail) == {"act_s/1", "act_s/4", "env_step_s/4"}
    write_measured(tmp_path / "measured.json", times)
    assert read_components(tmp_path / "measured.json") == times


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
def test_a_part_of_a_large_batch_stands_for_the_whole(tmp_path, monkeypatch):
    def one_second(work):
        work()
        return 1.0

    monkeypatch.setattr("mcrl.planning.measure._MAX_FRAGMENTS", 2)
    monkeypatch.setattr("mcrl.planning.measure._seconds", one_second)
    config = make_config(tmp_path)  # batches of 8, of which a minibatch of 4 is the least that can be learned
    times = measure(config, repeats=1, on_part=lambda part: None, parts=CORRIDOR)
    assert (times.collect_s, times.learn_s) == (1.0, 2.0)


def test_a_measurement_ends_the_engines_of_its_worker(tmp_path):
    engines = Engines()

    def stop_at_learning(part):
        if part == "learning":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(make_config(tmp_path), repeats=1, on_part=stop_at_learning, parts=engines.parts())
    assert engines.num_begun > 1
    assert not engines.alive
