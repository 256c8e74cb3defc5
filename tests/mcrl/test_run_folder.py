from eval.judging.row_names import main_row
from mcrl.run_folder import sibling_rows
from mcrl.train import train
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
