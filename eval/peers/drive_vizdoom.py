"""ViZDoom, the first-person engine with masks: 160 x 120 RGB with its labels buffer, one tic a frame, random buttons.

It is called with a scenario, "basic" or "my_way_home".
"""

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import vizdoom
from turns import FRAMES_PER_ITERATION, seed, take_turns

_BUTTON_CHANCE = 0.4


def open_game(scenario: str) -> vizdoom.DoomGame:
    """Return a game at its first episode. It runs in a child process."""
    game = vizdoom.DoomGame()
    game.load_config(str(Path(vizdoom.scenarios_path) / f"{scenario}.cfg"))
    game.set_screen_resolution(vizdoom.ScreenResolution.RES_160X120)
    game.set_screen_format(vizdoom.ScreenFormat.RGB24)
    game.set_labels_buffer_enabled(True)
    game.set_window_visible(False)
    game.set_mode(vizdoom.Mode.PLAYER)
    game.set_seed(seed())
    game.init()
    return game


def main() -> None:
    """Drive it."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # it writes its settings and logs into the working directory
        game = open_game(sys.argv[2])
        shape = (FRAMES_PER_ITERATION, game.get_available_buttons_size())
        actions = (np.random.default_rng(seed()).random(shape) < _BUTTON_CHANCE).tolist()

        def iterate(num_iterations: int) -> int:
            for action in actions * num_iterations:
                if game.is_episode_finished():
                    game.new_episode()
                game.make_action(action, 1)
                state = game.get_state()
                if state is not None:
                    assert state.labels_buffer is not None
                    assert state.screen_buffer.shape == (120, 160, 3)
                    assert state.labels_buffer.shape == (120, 160)
            return num_iterations * FRAMES_PER_ITERATION

        take_turns(iterate, {"vizdoom": vizdoom.__version__})
        game.close()


if __name__ == "__main__":
    main()
