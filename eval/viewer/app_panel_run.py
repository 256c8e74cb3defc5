"""The Run tab: who plays, play and pause, speed, taking over, and where to look from."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import viser

from eval.viewer.app_control import Choice, Forward
from eval.viewer.players import HUMAN, player_names
from eval.viewer.run_control import RunControl
from policies.decoding import AS_TRAINED, Decoding
from worlds.adapters.catalogue import BUILT_IN

if TYPE_CHECKING:
    from eval.viewer.app_booth import Booth

_TAKE_OVER, _HAND_BACK = "Take over", "Hand back"
_VIEWS = {"Agent": "agent", "Behind": "behind", "Goal": "goal", "Bird": "sky"}


class RunPanel:
    """The controls of the Run tab."""

    def __init__(self, booth: "Booth", gui: viser.GuiApi) -> None:
        """Build them in the container that is open."""
        self._booth = booth
        run, pair = booth.session.run, booth.session.pair
        names = tuple(player_names())
        self._names = names if run.player in names or run.is_replay else (run.player, *names)
        shown = (run.player, *self._names) if run.is_replay else self._names
        self._player = gui.add_dropdown("Who plays", shown, initial_value=run.player)
        self._play = gui.add_button("Play", icon=viser.Icon.PLAYER_PLAY, color="green")
        steps = gui.add_button_group("", ("Step", "Reset", "Stop"))
        self._hand = gui.add_button(_hand_label(run), icon=viser.Icon.DEVICE_GAMEPAD, disabled=True)
        self._speed = gui.add_slider("Speed", min=0.25, max=8.0, step=0.25, initial_value=run.speed)
        views = gui.add_button_group("Look from", tuple(_VIEWS))
        self._follow = gui.add_checkbox("Follow the agent", False)
        booth.follow(self._follow.value)  # a page that was left may have asked for it
        with gui.add_folder("More", expand_by_default=False):
            self._temperature = gui.add_slider(
                "Temperature", min=0.0, max=2.0, step=0.05, initial_value=run.decoding.temperature,
                hint="Of policies' draws: 1 as in training, 0 the likeliest always. A new value clears the memory.",
            )  # fmt: skip
            self._guidance = gui.add_slider(
                "Guidance", min=0.0, max=5.0, step=0.25, initial_value=run.decoding.guidance or 0.0,
                hint="Of policies: how much more than without a goal; 0 is off. A new value clears the memory.",
            )  # fmt: skip
            self._seed = gui.add_number("Seed", run.seed, min=0, step=1, hint="Of the player's draws.")
            self._engine = gui.add_dropdown(
                "Engine", booth.session.shared.engines.names, initial_value=run.engine_name,
                hint="Another engine shows its pictures here; the world stays as the goal's was made.",
            )  # fmt: skip
            send = gui.add_button("Give the goal to the running agent", icon=viser.Icon.SEND)
            forget = gui.add_button("Clear memory", icon=viser.Icon.ERASER)
            video = gui.add_button("Save a video of this run", icon=viser.Icon.MOVIE)
            self._folder = gui.add_text("Checkpoint", "", hint="A folder of a checkpoint or run, or a shipped name.")
            load = gui.add_button("Load checkpoint", icon=viser.Icon.FOLDER_OPEN)
        forward = Forward(booth.do)
        self._player_choice = Choice(forward, self._player, read=lambda: run.player, write=self._choose)
        self._engine_choice = Choice(forward, self._engine, read=lambda: run.engine_name, write=pair.choose_engine)
        self._temperature.on_update(forward(lambda: run.decode(self._decoding())))
        self._guidance.on_update(forward(lambda: run.decode(self._decoding())))
        self._play.on_click(forward(self._play_or_pause))
        steps.on_click(forward.valued(self._step))
        self._hand.on_click(forward(self._take_over_or_back))
        self._speed.on_update(forward(lambda: pair.set_speed(float(self._speed.value))))
        views.on_click(forward.valued(lambda view: booth.jump(_VIEWS[view])))
        self._follow.on_update(forward(lambda: booth.follow(self._follow.value)))
        send.on_click(forward(run.send_goal))
        forget.on_click(forward(run.clear_memory))
        load.on_click(forward.reading(self._load, self._folder))
        video.on_click(forward(self._save_video))

    def update(self) -> None:
        """Show the session's run."""
        run, is_playing = self._booth.session.run, self._booth.session.pair.is_playing
        label = "Pause" if is_playing else "Play"
        if self._play.label != label:
            self._play.label = label
            self._play.icon = viser.Icon.PLAYER_PAUSE if is_playing else viser.Icon.PLAYER_PLAY
        label = _hand_label(run)
        if self._hand.label != label:
            self._hand.label = label
        is_idle = label not in (_TAKE_OVER, _HAND_BACK)
        if self._hand.disabled != is_idle:
            self._hand.disabled = is_idle
        self._engine_choice.update()
        if run.player not in self._names and not run.is_replay:
            self._names = (run.player, *self._names)
        # A recording is of one task: it is named while it plays, and not to be chosen.
        names = (run.player, *self._names) if run.is_replay else self._names
        if self._player.options != names:
            self._player.options = names
        self._player_choice.update()

    def _choose(self, name: str) -> None:
        is_scripted = name in ("expert", "random", "noop", "human")
        decoding = AS_TRAINED if is_scripted else self._decoding()
        self._exchange(name, decoding)

    def _decoding(self) -> Decoding:
        return Decoding(temperature=float(self._temperature.value), guidance=float(self._guidance.value) or None)

    def _load(self, folder: str) -> None:
        name = folder.strip()
        if not self._exchange(name, self._decoding()):
            self._booth.say(f"{name} plays now.")

    def _exchange(self, name: str, decoding: Decoding) -> bool:
        """Let somebody else play; tell, and return, whether the episode had to be given up for it."""
        session = self._booth.session
        was_playing = session.run.run is not None
        session.pair.choose_player(name, decoding=decoding)
        is_given_up = was_playing and session.run.run is None
        if is_given_up:
            self._booth.say(f"{name} sees pictures of another size, or decides at another pace: Play begins anew.")
        return is_given_up

    def _save_video(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self._booth.send_file(self._booth.session.run.write_video(Path(folder) / "run"))

    def _play_or_pause(self) -> None:
        pair = self._booth.session.pair
        if pair.is_playing:
            pair.pause()
            return
        if pair.is_to_begin:
            self._tell_of_beginning()
        pair.play(seed=int(self._seed.value))

    def _tell_of_beginning(self) -> None:
        """Say that an episode is being made, where that can take longer than a person waits for a button."""
        engine_name = self._booth.session.run.engine_name
        if engine_name != BUILT_IN:
            self._booth.announce(f"{engine_name} is started and the world made in it: up to a minute.")
        else:
            self._booth.announce("The episode begins.")

    def _step(self, what: str) -> None:
        session, seed = self._booth.session, int(self._seed.value)
        if what == "Stop":
            session.leave()
            return
        if what == "Reset" or session.run.run is None:
            self._tell_of_beginning()
        if what == "Reset":
            session.pair.reset(seed=seed)
        else:
            session.pair.step(seed=seed)

    def _take_over_or_back(self) -> None:
        run = self._booth.session.run
        if run.run is not None and run.run.is_by_hand:
            run.hand_back()
        else:
            run.take_over()


def _hand_label(run: RunControl) -> str:
    """Return what is on the button that takes over; where it is grey, why: viser shows no hint of a button."""
    if run.run is None:
        return "Take over: Play first"
    if not run.run.is_by_hand:
        return _TAKE_OVER
    return "You play, and nobody else" if run.player == HUMAN or run.is_replay else _HAND_BACK
