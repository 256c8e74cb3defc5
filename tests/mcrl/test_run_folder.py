import dataclasses

import pytest

from eval.judging.row_names import main_row
from mcrl import checkpoint
from mcrl.recipes import laptop
from mcrl.run_folder import check_is_start, sibling_rows
from mcrl.train import train
from tests.eval.suite_fixtures import save_checkpoint
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import make_config, with_rounds


def test_a_checkpoint_is_judged_with_what_it_came_from_and_is_itself_the_judged_row(tmp_path):
    final = train(with_rounds(make_config(tmp_path)), parts=CORRIDOR).checkpoint
    for name, stage, rows in (
        ("final", "ppo", ["imitation", "dagger", "rl"]),
        ("dagger", "dagger", ["imitation", "dagger"]),
        ("imitation", "imitation", ["imitation"]),
    ):
        assert list(sibling_rows(final.with_name(name), stage)) == rows
        assert main_row(rows) == rows[-1]


def test_a_start_whose_preset_was_taken_back_is_not_told_to_ask_for_it(tmp_path):
    saved = checkpoint.load(save_checkpoint(tmp_path / "mine"))
    state = dataclasses.replace(saved.state, preset="mine")
    checkpoint.save(tmp_path / "gone", dataclasses.replace(saved, state=state))
    with pytest.raises(ValueError, match="names preset 'mine', which this checkout does not have"):
        check_is_start(tmp_path / "gone", laptop())
