"""Claims about what a run says of the commands that made its weights."""

import dataclasses

from mcrl.run_commands import FILE_NAME, commands_text, note_command, read_commands
from mcrl.train import resume, train
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import ROLLOUT, StopIn, make_config


def test_a_run_names_what_began_it_and_what_went_on_with_it_each_time_it_trained(tmp_path):
    stopped = dataclasses.replace(CORRIDOR, make_env=StopIn(ROLLOUT, 30).make_env)
    assert train(make_config(tmp_path), parts=stopped, command="mcrl train --x 'a b'").exit_code == 130
    run_dir = tmp_path / "run"
    for command in ("mcrl train --resume run", "mcrl train --resume run"):
        resume(run_dir, parts=CORRIDOR, command=command)  # the second time nothing is left to train
    noted = read_commands(run_dir)
    assert [one.command for one in noted] == ["mcrl train --x 'a b'", "mcrl train --resume run"]
    assert {one.commit for one in noted} == {noted[0].commit} != {""}
    assert commands_text(run_dir) == "mcrl train --x 'a b'; mcrl train --resume run"


def test_a_program_that_trains_says_no_command(tmp_path):
    train(make_config(tmp_path), parts=CORRIDOR)
    assert (read_commands(tmp_path / "run"), commands_text(tmp_path / "run")) == ([], "")


def test_the_same_command_is_named_once_and_foreign_lines_not_at_all(tmp_path):
    for command in ("a", "b", "b", ""):
        note_command(tmp_path, command)
    with (tmp_path / FILE_NAME).open("ab") as file:
        file.write(b'{"command": "torn\n[]\nnull\n{"other": 1}\n\xff\n')
    note_command(tmp_path, "c")
    assert [one.command for one in read_commands(tmp_path)] == ["a", "b", "b", "c"]
    assert commands_text(tmp_path) == "a; b; c"
