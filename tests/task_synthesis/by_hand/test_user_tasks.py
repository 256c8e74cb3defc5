"""Claims about hand-made tasks: the examples can be played, and every mistake is named with its field."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest

import task_synthesis
from policies.expert import ExpertAgent
from task_synthesis.by_hand.user_tasks import read_user_tasks
from task_synthesis.placement.targets import FULL, OPEN, footing_table
from task_synthesis.playing.task_env import Outcome, TaskEnv
from task_synthesis.task import from_json_line, to_json_line
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.world_cache import WorldCache

EXAMPLES = sorted((Path(task_synthesis.__file__).parent / "examples").iterdir())
SIZE = (64, 64, 64)
GOOD = {
    "skill": "break",
    "world": {"seed": 12, "biome": "desert", "size_blocks": [64, 64, 64], "detail": "plain"},
    "placements": [{"kind": "gold_block", "position": [32, "ground", 20]}],
    "target": 0,
    "start": {"position": [31.5, "ground", 31.5]},
    "goal_view": {"position": [28.5, "ground+8", 17.5]},
}


@pytest.fixture(scope="module")
def backend():
    return VoxelBackend(1, size_blocks=SIZE, image_px=(64, 64), with_depth=True)


@pytest.fixture(scope="module")
def example_tasks(backend):
    return {path.name: read_user_tasks(path, backend) for path in EXAMPLES}


def test_there_are_three_examples_of_different_skills(example_tasks):
    assert len(EXAMPLES) == 3
    tasks = [task for tasks in example_tasks.values() for task in tasks]
    assert {task.skill for task in tasks} >= {"approach", "break", "interact", "hunt"}
    assert all(from_json_line(to_json_line(task)) == task for task in tasks)


@pytest.mark.slow
@pytest.mark.parametrize("name", [path.name for path in EXAMPLES])
def test_the_goal_of_an_example_shows_its_target_and_the_expert_solves_it(example_tasks, name):
    for task in example_tasks[name]:
        backend = VoxelBackend(1, size_blocks=SIZE, image_px=(64, 64))
        env = TaskEnv(backend, lambda _, task=task: task)
        observation, outcome = env.reset(), Outcome.RUNNING
        assert 0.5 * task.difficulty.goal_area < observation.goals[0].mask_HW.mean() < 2 * task.difficulty.goal_area
        assert (observation.target_E7[0, 0] > 0) == task.difficulty.visible_at_start
        expert = ExpertAgent(env)
        while outcome == Outcome.RUNNING:
            transition = env.step(expert.act(observation))
            observation, outcome = transition.observation, Outcome(int(transition.outcome_E[0]))
        assert outcome == Outcome.SUCCESS, f"{task.family}: {outcome.name}"


def test_what_is_not_said_is_measured_or_follows_from_the_skill(example_tasks):
    (task,) = example_tasks["break_behind_you.json"]
    assert task.band == "near"
    assert task.difficulty.distance_blocks == pytest.approx(np.hypot(1.0, 11.0), abs=1e-3)
    assert task.difficulty.path_blocks >= 8
    assert abs(task.difficulty.target_yaw_deg) > 170
    assert (task.difficulty.num_same_kind, task.difficulty.num_other_kind) == (1, 1)
    assert not task.difficulty.visible_at_start
    assert task.look.time_ticks == 11000
    chest, _ = example_tasks["devices_and_animals.json"]
    assert chest.inventory == ()
    assert chest.max_ticks > 100


def written(tmp_path, task) -> Path:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"tasks": [task]}))
    return path


def changed(path_of_keys: str, value: object) -> dict:
    task = copy.deepcopy(GOOD)
    *outer, last = path_of_keys.split(".")
    place = task
    for key in outer:
        place = place[int(key)] if key.isdigit() else place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return task


@pytest.mark.parametrize(
    ("where", "value", "sentence"),
    [
        ("skill", "fly", r"tasks\[0\]\.skill: 'fly' is unknown; choose one of"),
        ("skill", "hunt", r"tasks\[0\]\.target: hunt has a target of type mob, 'gold_block' is of type block"),
        ("skill", "interact", r"tasks\[0\]: nothing happens when gold_block is used; choose another target"),
        ("skil", "break", r"tasks\[0\]\.skil is not a field; the fields are"),
        ("target", None, r"tasks\[0\]\.target is missing"),
        ("target", 3, r"tasks\[0\]\.target is 3, placements are 0 \.\. 0"),
        ("target", True, r"tasks\[0\]\.target must be an integer, got True"),
        ("world.seed", None, r"tasks\[0\]\.world\.seed is missing"),
        ("world.seed", -4, r"tasks\[0\]\.world: world\.seed must be in"),
        ("world.sed", 4, r"tasks\[0\]\.world\.sed is not a field"),
        ("world.biome", "moon", r"tasks\[0\]\.world\.biome: 'moon' is unknown"),
        ("world.save", "nowhere", "no such folder"),
        ("world.size_blocks", [128, 64, 128], "the backend's worlds are"),
        ("placements.0.kind", "unobtainium", r"placements\[0\]\.kind: 'unobtainium' is no block and no mob of"),
        ("placements.0.kind", "bone", r"placements\[0\]\.kind: .* an item that lies there is 'item:bone'"),
        ("placements.0.kind", "cwo", r"placements\[0\]\.kind: .* did you mean cow\?"),
        ("placements.0.position", [1, 2], r"placements\[0\]\.position must be \[x, y, z\]"),
        ("placements.0.position", [1, "sky", 2], r"placements\[0\]\.position: y must be a number"),
        ("placements.0.position", [300, 20, 2], r"placements\[0\]\.position: x must be in \[0, 64\), got 300"),
        ("start.position", [-20.5, "ground", 2], r"tasks\[0\]\.start\.position: x must be in \[0, 64\), got -20\.5"),
        ("goal_view.position", [2, "ground", 64], r"goal_view\.position: z must be in \[0, 64\), got 64"),
        ("placements.0.position", [1, 90, 2], r"placements\[0\]\.position: y must be in \[1, 62\], got 90"),
        ("start.position", [31.5, 50, 31.5], r"tasks\[0\]: start: a body cannot stand at 31\.5, 50, 31\.5: there the"),
        ("start.pitch_deg", 100, r"tasks\[0\]\.start\.pitch_deg must be in \[-90, 90\]"),
        ("goal_view.yaw_deg", 90, r"tasks\[0\]: goal_view: the target is not in the picture"),
        ("goal_view.position", [32.5, "ground-1", 18.5], r"goal_view\.position: y must be a number"),
        ("placements", [{"kind": "cow", "position": [32, 5, 20]}], r"placements\[0\]\.position: y 5 is inside a block"),
        ("placements", [{"kind": "cow", "position": [32, 55, 20]}], r"placements\[0\]\.position: y 55 is in the air"),
        ("placements", [{"kind": "item:apple", "position": [32, 55, 20]}], r"the item would fall; write \"ground\""),
        ("goal_view.position", [28.5, 20, 17.5], r"tasks\[0\]: goal_view: the camera is inside a block"),
        ("inventory", [["diamond_pickaxe"]], r"tasks\[0\]\.inventory\[0\] must be \[\"item\", count\]"),
        ("inventory", [["excalibur", 1]], r"tasks\[0\]: .*excalibur"),
        ("max_ticks", -1, r"tasks\[0\]: task\.max_ticks must be positive"),
        ("max_ticks", 10**20, r"tasks\[0\]: task\.max_ticks must be positive and at most a day"),
        ("world.size_blocks", 64, r"tasks\[0\]\.world\.size_blocks must be three integers, got 64"),
        ("world.size_blocks", [64, 64], r"tasks\[0\]\.world\.size_blocks must be three integers"),
        ("world.detail", ["plain"], r"tasks\[0\]\.world\.detail must be one of 'plain', 'full'"),
        ("world.origin_blocks", "here", r"tasks\[0\]\.world\.origin_blocks must be three integers"),
        ("world.source", "mine", r"tasks\[0\]: world\.source is 'mine', which is no save"),
        ("placements.0.kind", "oak_door[", r"the list of properties does not end"),
        ("start.position", [31.5, 10**400, 31.5], r"tasks\[0\]\.start\.position: y must be a number"),
        ("start.position", [31.5, 1e300, 31.5], r"tasks\[0\]\.start\.position: y 1e\+300 is far outside"),
        ("start.yaw_deg", float("nan"), r"tasks\[0\]\.start\.yaw_deg must be a finite number of degrees, got nan"),
        ("look", {"fog": "heavy"}, r"tasks\[0\]\.look\.fog must be a finite float, got 'heavy'"),
        ("look", {"time_ticks": 6000.5}, r"tasks\[0\]\.look\.time_ticks must be int, got 6000\.5"),
        ("look", {"textures": 5}, r"tasks\[0\]\.look\.textures must be str, got 5"),
        ("look", {"fgo": 5}, r"tasks\[0\]\.look\.fgo is not a field; the fields are"),
        ("look", {"fog": 99}, r"tasks\[0\]\.look: look\.fog must be in"),
        ("placements.0.kind", "bedrock", r"tasks\[0\]: nothing breaks bedrock; choose another target"),
        ("placements.0.kind", "vizdoom:backpack", r"tasks\[0\]: nothing breaks vizdoom:backpack; choose"),
        ("placements", [], r"tasks\[0\]\.placements is empty; place the target at least"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_its_field(backend, tmp_path, where, value, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        read_user_tasks(written(tmp_path, changed(where, value)), backend)
    assert "\n" not in str(caught.value)


def test_an_empty_inventory_is_the_bare_hand(backend, tmp_path):
    (task,) = read_user_tasks(written(tmp_path, changed("inventory", [])), backend)
    assert task.inventory == ()


def test_a_start_without_a_way_to_the_target_is_refused(backend, tmp_path):
    task = copy.deepcopy(GOOD)
    task["placements"][0]["position"] = [32, "ground+12", 20]
    task["goal_view"]["position"] = [28.5, "ground+13", 17.5]
    with pytest.raises(ValueError, match="start: no walk leads from there"):
        read_user_tasks(written(tmp_path, task), backend)


def test_who_wants_warnings_gets_the_unreachable_task_with_the_straight_line(backend, tmp_path):
    task = copy.deepcopy(GOOD)
    task["placements"][0]["position"] = [32, "ground+12", 20]
    task["goal_view"]["position"] = [28.5, "ground+13", 17.5]
    heard = []
    (read,) = read_user_tasks(written(tmp_path, task), backend, on_warning=heard.append)
    assert len(heard) == 1
    assert "tasks[0]: start: no walk leads from there" in heard[0]
    rise = read.difficulty.height_blocks
    assert read.difficulty.path_blocks == pytest.approx(np.hypot(read.difficulty.distance_blocks, rise), abs=0.06)


@pytest.mark.parametrize(("kind", "skill"), [("cow", "hunt"), ("item:apple", "pick_up"), ("pumpkin", "approach")])
@pytest.mark.parametrize(("biome", "seed", "cell"), [("savanna", 3, (2, 32, 10)), ("desert", 2, (63, 34, 22))])
def test_the_ground_of_a_field_or_a_slab_is_the_cell_above_it(backend, tmp_path, kind, skill, biome, seed, cell):
    x, y, z = cell
    task = changed("placements", [{"kind": kind, "position": [x, "ground", z]}]) | {"skill": skill}
    task["world"] = {"seed": seed, "biome": biome, "size_blocks": [64, 64, 64]}
    task["start"] = {"position": [(x + 7) % 64 + 0.5, "ground", z + 0.5]}
    task["goal_view"] = {"position": [x + 0.5, "ground+2.5", z + 0.4]}
    (read,) = read_user_tasks(written(tmp_path, task), backend, on_warning=lambda _: None)
    assert read.placements[0].position == cell
    assert OPEN < footing_table()[WorldCache().get([read.world])[0].world.block_XZY[x, z, y - 1]] < FULL


def test_two_objects_in_one_cell_are_refused(backend, tmp_path):
    task = copy.deepcopy(GOOD)
    task["placements"].append({"kind": "pumpkin", "position": [32, "ground", 20]})
    with pytest.raises(ValueError, match=r"placements\[1\]\.position is that of placements\[0\]"):
        read_user_tasks(written(tmp_path, task), backend)


def test_yaml_says_the_same_as_json(backend, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "tasks:\n  - skill: break\n    world: {seed: 12, biome: desert, size_blocks: [64, 64, 64], detail: plain}\n"
        "    placements: [{kind: gold_block, position: [32, ground, 20]}]\n    target: 0\n"
        "    start: {position: [31.5, ground, 31.5]}\n    goal_view: {position: [28.5, ground+8, 17.5]}\n"
    )
    same = written(tmp_path, GOOD)
    same.write_bytes(b"\xef\xbb\xbf" + same.read_bytes())  # as editors of Windows begin a text
    assert read_user_tasks(path, backend) == read_user_tasks(same, backend)
    path.write_text("tasks: [\n  - skill: {")
    with pytest.raises(ValueError, match=r"mine\.yaml: not YAML \(line 2: .*\); mend that line"):
        read_user_tasks(path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", r"mine\.json: not JSON \(.* at column 2\); mend that line"),
        ('{\n"tasks":\n}', r"mine\.json: not JSON \(.* at line 3, column 1\); mend that line"),
        ("[" * 200_000, r"mine\.json: not JSON \(it is nested too deep\)"),
        ("9" * 5000, r"mine\.json: not JSON \(it has an integer of more than 4300 digits\)"),
        ("[]", "must be an object"),
        ('{"tasks": []}', "at least one task"),
        ("{}", "tasks is missing"),
    ],
    ids=lambda text: text[:20],
)
def test_a_file_that_holds_no_tasks_is_refused(tmp_path, text, sentence):
    path = tmp_path / "mine.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=sentence):
        read_user_tasks(path)
    with pytest.raises(ValueError, match="no such file"):
        read_user_tasks(tmp_path / "other.json")
    with pytest.raises(ValueError, match="a folder; name a JSON or YAML file"):
        read_user_tasks(tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [("mine.json", '{"tasks": [], "tasks": [1]}'), ("mine.yaml", "tasks:\n- skill: break\n  skill: hunt\n")],
)
def test_a_field_that_is_there_twice_is_refused(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=r"mine\..*an object has '(tasks|skill)' twice; keep one"):
        read_user_tasks(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1: 2", "line 1: a field's name is no text, put it in quotes"),
        ("tasks: []\non: 2", "line 2: a field's name is no text"),
        ("tasks: [{2024-01-02: 2}]", "line 1: a field's name is no text"),
        ("? [1, 2]\n: 3", "line 1: a field's name is no text"),
        ("? !!str [1, 2]\n: 3", "line 1: a field's name is no text"),
        ("tasks: !!float ", "line 1: '' is no float"),
        ("tasks: !!bool maybe", "line 1: 'maybe' is no bool"),
        ("tasks: !!timestamp soon", "line 1: 'soon' is no timestamp"),
        ("tasks:\n- 2024-13-45", "line 2: '2024-13-45' is no timestamp"),
        ("tasks: !!int abc", "line 1: 'abc' is no int"),
        ("tasks: 0b_", "line 1: '0b_' is no int"),
        ("tasks: " + "9" * 5000, "line 1: '9{40}' is no int"),
        ("[" * 200_000, "it is nested too deep"),
    ],
    ids=lambda text: text[:20],
)
def test_yaml_that_cannot_be_read_is_one_sentence_with_its_file_and_line(tmp_path, text, said):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"^\S+mine\.yaml: not YAML[^(]*\({said}.*\); [^\n]+$"):
        read_user_tasks(path)


def test_a_field_may_be_taken_over_from_another_task_and_changed(backend, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "tasks:\n  - &first\n    skill: break\n    target: 0\n"
        "    world: {seed: 12, biome: desert, size_blocks: [64, 64, 64], detail: plain}\n"
        "    placements: [{kind: gold_block, position: [32, ground, 20]}]\n"
        "    start: {position: [31.5, ground, 31.5]}\n    goal_view: {position: [28.5, ground+8, 17.5]}\n"
        "  - &second\n    <<: *first\n    skill: approach\n  - <<: *second\n    max_ticks: 300\n"
    )
    tasks = read_user_tasks(path, backend)
    assert [task.skill for task in tasks] == ["break", "approach", "approach"]
    assert tasks[2].max_ticks == 300


def test_what_is_neither_hears_of_both(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("tasks: []")
    with pytest.raises(ValueError, match=r"not JSON .*, or end the name in \.yaml for YAML"):
        read_user_tasks(path)
