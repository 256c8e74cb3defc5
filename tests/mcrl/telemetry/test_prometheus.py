from mcrl.cli import main
from mcrl.telemetry.prometheus import GAUGES, exposition
from tests.mcrl.telemetry.written_status import write


def test_prometheus_samples_carry_labels_and_reasons():
    metrics = {"steps_per_s": 12.5, "success": None, "fragments_dropped/stale": 3.0, "unknown": 1.0}
    lines = exposition(metrics, labels={"run": 'a"b'}).splitlines()
    assert 'mcrl_steps_per_second{run="a\\"b"} 12.5' in lines
    assert 'mcrl_fragments_dropped{run="a\\"b",reason="stale"} 3.0' in lines
    assert len([line for line in lines if not line.startswith("#")]) == 2
    assert len({gauge.name for gauge in GAUGES}) == len(GAUGES)


def test_the_status_of_a_run_can_be_written_for_prometheus(tmp_path):
    write(tmp_path, metrics={"success": 0.5})
    out = tmp_path / "collector" / "mcrl.prom"
    assert main(["status", str(tmp_path), "--prometheus", str(out)]) == 0
    assert 'state="running"} 0.5' in out.read_text()
