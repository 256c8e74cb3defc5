"""Claims about operating systems: where the commands cannot run, one sentence says where they can."""

import sys

from tests.mcrl.commands.command_line import refusal


def test_on_windows_every_command_names_wsl(capsys, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert "does not run on Windows itself; install it in WSL 2" in refusal(capsys, "suites")
