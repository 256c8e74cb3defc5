import sys

import pytest

from mcrl.telemetry.wandb_log import WandbLog


class RefusingWandb:
    """Stands where the wandb module would be, and fails as it does without network or disk."""

    class Settings:
        def __init__(self, **options: object) -> None:
            pass

    @staticmethod
    def init(**options: object) -> None:
        raise RuntimeError("no network")


def test_disabled_imports_nothing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    log = WandbLog("disabled", tmp_path, {})
    log.write("ppo", 1, {"loss": 0.5})
    log.close()


@pytest.mark.parametrize("module", [None, RefusingWandb])
def test_a_wandb_that_does_not_start_does_not_stop_the_run(tmp_path, monkeypatch, caplog, module):
    monkeypatch.setitem(sys.modules, "wandb", module)
    log = WandbLog("offline", tmp_path, {})
    log.write("ppo", 1, {"loss": 0.5})
    log.close()
    assert "metrics.jsonl has everything" in caplog.text


def test_auto_heeds_what_wandb_itself_would_heed(tmp_path, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "wandb", None)
    monkeypatch.setenv("WANDB_MODE", "disabled")
    monkeypatch.setenv("WANDB_API_KEY", "secret")
    log = WandbLog("auto", tmp_path, {})
    log.write("ppo", 1, {"loss": 0.5})
    log.close()
    assert "wandb did not start" not in caplog.text  # nobody asked it to


@pytest.mark.parametrize(("key", "mode"), [("secret", "online"), ("", "offline")])
def test_auto_is_online_only_when_logged_in(tmp_path, monkeypatch, key, mode):
    chosen = {}

    class Recording(RefusingWandb):
        @staticmethod
        def init(**options: object) -> None:
            chosen.update(options)
            raise RuntimeError("seen enough")

    monkeypatch.setitem(sys.modules, "wandb", Recording)
    monkeypatch.delenv("WANDB_MODE", raising=False)
    monkeypatch.setenv("WANDB_API_KEY", key)
    monkeypatch.setenv("NETRC", str(tmp_path / "absent"))
    monkeypatch.setenv("HOME", str(tmp_path))
    WandbLog("auto", tmp_path, {})
    assert chosen["mode"] == mode


@pytest.mark.slow
def test_an_offline_run_writes_its_files_and_says_where(tmp_path, monkeypatch, caplog):
    caplog.set_level("INFO", logger="mcrl.telemetry.wandb_log")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    log = WandbLog("offline", tmp_path, {"recipe": "smoke"})
    log.write("ppo", 1, {"loss": 0.5})
    log.close()
    (written,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    assert f"`wandb sync {written.parent}` uploads it" in caplog.text


def test_a_report_that_wandb_refuses_stops_nothing(tmp_path, monkeypatch, caplog):
    class Run:
        def log(self, metrics: object) -> None:
            raise RuntimeError("disk full")

        def finish(self) -> None:
            pass

    class Wandb(RefusingWandb):
        Table = staticmethod(lambda **columns: columns)
        Html = staticmethod(lambda text, inject: text)

        @staticmethod
        def init(**options: object) -> Run:
            return Run()

    monkeypatch.setitem(sys.modules, "wandb", Wandb)
    page = tmp_path / "report.html"
    page.write_text("<p>")
    log = WandbLog("offline", tmp_path, {})
    log.write_report({"tiny.v1": (["row", "success"], [["rl", 0.5]])}, page)
    log.close()
    assert "did not take the report" in caplog.text
    assert str(page) in caplog.text
