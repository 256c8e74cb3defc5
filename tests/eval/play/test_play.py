"""`mcrl play`: the language of keys, what a window makes of keyboard and mouse, and whole plays into files."""

import json
import re
import shlex

import numpy as np
import pytest

from eval.play.play_keys import MAX_TICKS, parse_keys
from eval.play.play_window import HeldKeys
from eval.showcase.sample_pack import write_sample_pack
from mcrl.cli import main
from worlds.types import BUTTON_INDEX, BUTTONS, ActionBatch


def pressed(action: ActionBatch) -> set[str]:
    return {BUTTONS[i] for i in np.flatnonzero(action.buttons_EB[0])}


def test_a_word_holds_its_keys_for_its_ticks():
    actions = parse_keys("w+space*3 wait attack*2")
    assert [pressed(action) for action in actions] == [{"forward", "jump"}] * 3 + [set()] + [{"attack"}] * 2


def test_a_turn_is_spread_over_its_ticks_and_right_and_down_are_positive():
    actions = parse_keys("w+mouse(90, -30)*10")
    assert len(actions) == 10
    np.testing.assert_allclose(sum(action.camera_deg_E2[0] for action in actions), (-30.0, 90.0), rtol=1e-5)
    assert all(pressed(action) == {"forward"} for action in actions)


def test_every_button_has_a_word_and_comments_are_skipped():
    text = "\n".join(f"{button}  # {button} + nonsense *" for button in BUTTONS)
    assert [pressed(action) for action in parse_keys(text)] == [{button} for button in BUTTONS]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "holds no keys"),
        ("# nothing", "holds no keys"),
        ("w*20 forwrd", "word 2, 'forwrd': 'forwrd' is no key; did you mean forward?"),
        ("w*0", "a number of ticks, 1 to"),
        ("w*", "after * stands a number"),
        ("w*x", "after * stands a number"),
        ("w**3", "after * stands a number"),
        ("mouse(1)", "mouse(RIGHT,DOWN)"),
        ("mouse(nan,1)", "mouse(RIGHT,DOWN)"),
        ("mouse(720,0)", "give it 4 times the ticks"),
        (f"mouse({'9' * 46},0)", f"even in {MAX_TICKS} ticks; turn by less"),
        (f"w+mouse({'9' * 400},0)*3", f"even in {MAX_TICKS} ticks; turn by less"),
        (f"mouse({'9' * 400},0)+mouse(-{'9' * 400},0)", f"even in {MAX_TICKS} ticks; turn by less"),
        ("+", "is no key"),
        (f"w*{MAX_TICKS + 1}", "are more than"),
        (f"w*{MAX_TICKS} w", "lasts longer than"),
        ("w*999999999999", "after * stands a number"),
    ],
)
def test_what_is_no_key_is_named_with_its_place(text, expected):
    with pytest.raises(ValueError, match="--keys") as error:
        parse_keys(text)
    assert expected in str(error.value)


# ---- the window, without one ----


def test_a_key_counts_as_held_until_it_is_not_heard_of_for_a_while():
    held = HeldKeys((640, 360))
    held.on_key(ord("w"))
    ticks = 0
    while BUTTON_INDEX["forward"] in np.flatnonzero(held.take_action().buttons_EB[0]):
        ticks += 1
    assert 12 <= ticks <= 14
    for _ in range(30):
        held.on_key(ord("w"))
        assert pressed(held.take_action()) == {"forward"}
    assert pressed(held.take_action()) == {"forward"}
    for _ in range(14):
        held.take_action()
    assert pressed(held.take_action()) == set()


def test_a_hotbar_key_is_pressed_for_one_tick():
    held = HeldKeys((640, 360))
    held.on_key(ord("3"))
    assert [pressed(held.take_action()) for _ in range(2)] == [{"hotbar.3"}, set()]


def test_c_and_shift_hold_until_pressed_again_and_other_special_keys_do_nothing():
    held = HeldKeys((640, 360))
    held.on_key(ord("c"))
    assert [pressed(held.take_action()) for _ in range(40)] == [{"sneak"}] * 40
    held.on_key(65505)  # shift
    end, home_with_num_lock = 65367, 65360 + 0x100000
    for code in (end, home_with_num_lock):
        held.on_key(code)
    assert pressed(held.take_action()) == set()


def test_arrows_turn_the_view():
    held = HeldKeys((640, 360))
    held.on_key(65363)
    held.on_key(65364 + 0x100000)
    assert held.take_action().camera_deg_E2[0].tolist() == [6.0, 6.0]


def test_mouse_buttons_are_held_until_released_and_moves_turn():
    import cv2

    held = HeldKeys((640, 360))
    held.on_mouse(cv2.EVENT_MOUSEMOVE, 300, 180)
    held.on_mouse(cv2.EVENT_LBUTTONDOWN, 340, 160)
    first, second = held.take_action(), held.take_action()
    assert pressed(first) == pressed(second) == {"attack"}
    assert first.camera_deg_E2[0].tolist() == [-5.0, 10.0]
    assert second.camera_deg_E2[0].tolist() == [0.0, 0.0]
    held.on_mouse(cv2.EVENT_LBUTTONUP, 340, 160)
    assert pressed(held.take_action()) == set()


def test_a_pointer_at_the_edge_keeps_turning():
    import cv2

    held = HeldKeys((640, 360))
    held.on_mouse(cv2.EVENT_MOUSEMOVE, 638, 180)
    assert [held.take_action().camera_deg_E2[0, 1] > 0 for _ in range(3)] == [True] * 3


def test_escape_ends_the_play():
    assert HeldKeys((640, 360)).on_key(27)
    assert not HeldKeys((640, 360)).on_key(ord("w"))


# ---- refusals ----


def refusal(capsys, *argv: str) -> str:
    capsys.readouterr()
    assert main(["play", *argv]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1, printed.err
    return printed.err


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["--keys", "w", "--out", "x.gif"], "must end in .webm, .mp4 or .png"),
        (["--out", "x.png"], "nobody can press keys without a window"),
        (["--agent", "expert", "--policy", "small", "--out", "x.png"], "are two who play; leave one of them out"),
        (["--policy", "smal", "--out", "x.png"], "smal: no such checkpoint or run folder; did you mean small?"),
        (["--agent", "exper"], "exper: no such checkpoint or run folder; did you mean expert?"),
        (["--agent", "expert", "--guidance", "1", "--out", "x.png"], "--guidance is for policies, but expert plays"),
        (["--agent", "expert", "--temperature", "0", "--out", "x.png"], "--temperature is for policies"),
        (
            ["--policy", "small", "--guidance", "-1", "--out", "x.png"],
            "--guidance must be above 0 and finite, got -1.0",
        ),
        (["--policy", "small", "--task", "far:9999", "--out", "x.png"], "suite far.v1 holds 1008 tasks"),
        (["--agent", "expert", "--seed", "1008", "--out", "x.png"], "--seed 1008 is for unseen_seeds:1009, and suite "),
        (["--agent", "expert", "--seed", "-1", "--out", "x.png"], "--seed must not be negative"),
        (["--agent", "expert", "--keys", "w"], "leave one of them out"),
        (["--keys", "w", "--keys-file", "f"], "give one of them"),
        (["--keys-file", "/nonexistent", "--out", "x.png"], "/nonexistent"),
        (["--keys", "w", "--out", "x.png", "--task", "/nonexistent"], "as PLACE:NUMBER"),
        (["--keys", "w", "--out", "x.png", "--task", "/nonexistent:1"], "/nonexistent"),
        (["--keys", "w", "--out", "x.png", "--biome", "planes"], "did you mean plains?"),
        (["--keys", "w", "--out", "x.png", "--save", "/nonexistent"], "no such folder"),
        (["--keys", "w", "--out", "x.png", "--inventory", "iron_pickax"], "did you mean iron_pickaxe?"),
        (["--keys", "w", "--out", "x.png", "--image", "33", "40"], "multiples of 4"),
        (["--keys", "w", "--out", "x.png", "--size", "100"], "--size must be 32, 64, 128 or 256, got 100"),
        (["--keys", "w", "--out", "x.png", "--task", "x:1", "--origin", "1", "2", "3"], "--origin is of a free world"),
        (["--keys", "w", "--out", "x.png", "--origin", "1", "2", "3"], "name its folder with --save"),
        (["--backend", "luanti", "--keys", "w", "--out", "x.png", "--mobs", "3"], "--mobs is of the built-in engine"),
        (["--keys", "w", "--out", "x.png", "--task", "x:1", "--time", "13000"], "--time is of a free world"),
        (["--agent", "expert", "--out", "x.png", "--weather", "rain"], "and task unseen_seeds:1 has its own"),
        (["--keys", "w", "--out", "x.png", "--bioem", "x"], "did you mean --biome?"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(capsys, argv, expected):
    assert expected in refusal(capsys, *argv)


def test_keys_that_are_no_text_are_one_sentence_that_names_the_file(capsys, tmp_path):
    path = tmp_path / "bin.keys"
    path.write_bytes(b"w*20 \xff\xfe\x00")
    assert f"{path}: is no text in UTF-8; give words such as 'w*20" in refusal(
        capsys, "--keys-file", str(path), "--out", "x.png"
    )


def test_without_a_display_the_way_out_is_named(capsys, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert "--out play.webm" in refusal(capsys)


# ---- whole plays ----

SMALL = ["--size", "32", "--image", "64", "96"]


def test_piped_keys_walk_through_a_free_world_into_a_picture(capsys, tmp_path, monkeypatch):
    import cv2

    path = tmp_path / "new" / "view.png"
    assert main(["play", "--keys", "w*10 mouse(90,0)*3 wait*2", "--out", str(path), *SMALL]) == 0
    said = capsys.readouterr().out
    assert "ended after 15 ticks" in said
    assert str(path) in said
    picture = cv2.imread(str(path))
    assert picture.shape == (384, 576, 3)
    assert picture.std() > 10


def test_the_same_keys_give_the_same_picture(tmp_path):
    paths = [tmp_path / f"{i}.png" for i in range(2)]
    for path in paths:
        assert main(["play", "--keys", "w*12 attack*5", "--out", str(path), *SMALL]) == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("place", [["--seed", "1", "--size", "32"], ["--task", "unseen_seeds:1"]])
def test_a_free_world_and_a_task_wear_a_resource_pack(tmp_path, place, capsys):
    pack, plain, worn = write_sample_pack(tmp_path / "pack"), tmp_path / "plain.png", tmp_path / "worn.png"
    argv = ["play", "--keys", "wait", *place, "--image", "48", "64", "--out"]
    assert main([*argv, str(plain)]) == 0
    assert main([*argv, str(worn), "--resource-pack", str(pack)]) == 0
    assert plain.read_bytes() != worn.read_bytes()
    assert re.search(
        rf"{re.escape(str(pack))}: \d+ of \d+ textures taken; missing, ours stay: ", capsys.readouterr().out
    )


def test_a_real_save_can_be_played(capsys, tmp_path):
    from tests.worlds.anvil.anvil_files import write_save

    def meadow(x: int, y: int, z: int) -> str:
        return "minecraft:stone" if y < 9 else "minecraft:grass_block" if y == 9 else "minecraft:air"

    save = write_save(tmp_path / "world", meadow, "1.18", chunks=range(2), ys=range(2))
    argv = ["play", "--keys", "w*5", "--save", str(save), "--out", str(tmp_path / "x.png"), *SMALL]
    assert main(argv) == 0
    assert ", 29.00, " in capsys.readouterr().out  # the surface is put at level 28 of the cut-out


def test_a_save_is_not_left_aside_for_a_task_in_another_world(capsys, tmp_path):
    from tests.worlds.anvil.anvil_files import write_save

    save = write_save(tmp_path / "world", lambda x, y, z: "minecraft:stone", "1.18", chunks=range(2), ys=range(2))
    assert main(["play", "--save", str(save), "--agent", "expert", "--out", str(tmp_path / "x.png")]) == 2
    assert "task unseen_seeds:1 is in a generated world; leave it out" in capsys.readouterr().err
    assert not (tmp_path / "x.png").exists()


def test_a_hand_made_task_in_a_real_save_can_be_played(capsys, tmp_path):
    from tests.worlds.anvil.anvil_files import write_save

    def meadow(x: int, y: int, z: int) -> str:
        return "minecraft:stone" if y < 9 else "minecraft:grass_block" if y == 9 else "minecraft:air"

    write_save(tmp_path / "world", meadow, "1.18", chunks=range(2), ys=range(2))
    task = {
        "skill": "break",
        "world": {"save": "world", "size_blocks": [32, 64, 32], "origin_blocks": [0, -19, 0]},
        "placements": [{"kind": "gold_block", "position": [16, "ground", 22]}],
        "target": 0,
        "start": {"position": [16.5, "ground", 15.5]},
        "goal_view": {"position": [13.5, "ground+2.5", 18.5]},
    }
    (tmp_path / "mine.json").write_text(json.dumps({"tasks": [task]}))
    library = str(tmp_path / "library")
    assert main(["synth", "--from", str(tmp_path / "mine.json"), "--out", library]) == 0
    said = capsys.readouterr().out
    assert "--gallery" not in said  # it draws no saves
    watch = shlex.split(said.partition("watch one: mcrl ")[2])
    at = watch.index("--out")
    watch[at + 1] = str(tmp_path / "x.png")
    assert main([*watch, "--image", "64", "96"]) == 0
    assert "success after" in capsys.readouterr().out
    at = watch.index("--save")
    assert main([*watch[:at], *watch[at + 2 :]]) == 2
    assert "no save that was opened; give its folder" in capsys.readouterr().err


@pytest.mark.slow
def test_the_expert_plays_a_task_into_a_video(capsys, tmp_path):
    assert main(["synth", "-n", "2", "--out", str(tmp_path), "--size", "32", "--bands", "near"]) == 0
    path = tmp_path / "expert.webm"
    argv = ["play", "--agent", "expert", "--task", f"{tmp_path}:2", "--out", str(path), "--image", "64", "64"]
    assert main(argv) == 0
    assert f"task {tmp_path}:2: " in capsys.readouterr().out
    assert path.stat().st_size > 1000
