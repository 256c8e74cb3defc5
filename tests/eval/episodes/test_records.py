import dataclasses
import json
from pathlib import Path

import pytest

from eval.episodes import schema_text
from eval.episodes.records import SCHEMA_VERSION, JudgedEpisode, read_jsonl, write_jsonl
from tests.eval.made_episodes import make_episode

# A line as schema 2 was first written. Never edit it: people keep such files.
GOLDEN_LINE_2 = (
    '{"row":"shuffled goal","suite":"distractors.v1","unit":3,"task_id":"0f6c2a9e51b7d384",'
    '"goal_task_id":"9a41c7be02d8f635","family":"break/oak_log","skill":"break","band":"hard","biome":"swamp",'
    '"world_seed":4021,"split":"held_out","outcome":"time_limit","cause":"never_seen","success":false,"ticks":960,'
    '"max_ticks":960,"distance_blocks":47.25,"path_blocks":61.0,"height_blocks":-3.0,"target_yaw_deg":-171.5,'
    '"view_overlap":0.0,"view_angle_deg":133.0,"goal_area":0.0121,"num_same_kind":2,"num_other_kind":0,'
    '"in_sight":false,"visible_at_start":false,"walked_blocks":33.7,"closest_blocks":18.2,"first_seen_ticks":null,'
    '"last_seen_ticks":null,"schema":2}'
)


def test_a_line_of_schema_2_is_read_for_ever(tmp_path):
    path = tmp_path / "episodes.jsonl"
    path.write_text(GOLDEN_LINE_2 + "\n")
    (episode,) = read_jsonl(path)
    assert dataclasses.asdict(episode) == json.loads(GOLDEN_LINE_2)
    assert (episode.row, episode.cause, episode.first_seen_ticks) == ("shuffled goal", "never_seen", None)


def test_a_line_is_written_as_it_always_was(tmp_path):
    path = tmp_path / "episodes.jsonl"
    write_jsonl([JudgedEpisode(**json.loads(GOLDEN_LINE_2))], path)
    assert path.read_text() == GOLDEN_LINE_2 + "\n"


def test_the_schema_page_describes_every_field_of_the_record():
    page = (Path(schema_text.__file__).parents[1] / "SCHEMA.md").read_text(encoding="ascii")
    assert page == schema_text.schema_page(), "remake it with: python -m eval.episodes.schema_text > eval/SCHEMA.md"
    assert f"schema {SCHEMA_VERSION}" in page
    assert all(f"| `{field.name}` |" in page for field in dataclasses.fields(JudgedEpisode))


def test_records_survive_the_file(tmp_path):
    path = tmp_path / "episodes.jsonl"
    episodes = [make_episode("rl", n, outcome) for n, outcome in enumerate(["success", "death", "fault"])]
    write_jsonl(episodes, path)
    assert read_jsonl(path) == episodes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 99}, "schema 99"),
        ({"outcome": "won"}, "outcome 'won'"),
        ({"extra": 1}, "extra"),
        ({"ticks": "4"}, "ticks is '4'"),
        ({"ticks": 4.5}, "ticks is 4.5"),
        ({"ticks": True}, "ticks is True"),
        ({"success": 1}, "success is 1"),
        ({"path_blocks": None}, "path_blocks is None"),
        ({"first_seen_ticks": "never"}, "first_seen_ticks is 'never'"),
    ],
)
def test_a_foreign_record_is_refused_with_its_line(tmp_path, change, message):
    path = tmp_path / "episodes.jsonl"
    write_jsonl([make_episode("rl", 1, "success")], path)
    path.write_text(path.read_text() + json.dumps(json.loads(path.read_text()) | change) + "\n")
    with pytest.raises(ValueError, match=rf"episodes.jsonl:2: .*{message}"):
        read_jsonl(path)


@pytest.mark.parametrize("line", ["{", "[" * 200_000, '{"ticks": ' + "9" * 5000 + "}"], ids=["torn", "deep", "long"])
def test_a_line_that_is_no_json_is_refused_with_its_number(tmp_path, line):
    path = tmp_path / "episodes.jsonl"
    path.write_text(f"{GOLDEN_LINE_2}\n{line}\n")
    with pytest.raises(ValueError, match=r"episodes.jsonl:2: not a line of JSON \(.*\); repeat the command"):
        read_jsonl(path)
