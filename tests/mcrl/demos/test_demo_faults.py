"""Claims about broken datasets of demonstrations: each fault is one sentence that names its file."""

import json
import shutil
import struct
import zlib

import cv2
import numpy as np
import pytest

from mcrl.demos.lerobot_columns import VIEW
from mcrl.demos.lerobot_columns import features as columns_of
from tests.mcrl.demos.demo_episodes import written


def edit_json(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def edit_column(folder, column, change):
    """Rewrite one column of the data file by a function of its list of values."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = next((folder / "data").glob("*/*.parquet"))
    table = pq.read_table(path)
    field = table.schema.field(column)
    values = pa.array(change(table.column(column).to_pylist()), type=field.type)
    pq.write_table(table.set_column(table.column_names.index(column), field, values), path)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-20])


def first_changed(value):
    return lambda values: [value, *values[1:]]


def retype_pictures(folder, kind):
    """Rewrite the column of views with a struct of another type, holding what fits into it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = next((folder / "data").glob("*/*.parquet"))
    table = pq.read_table(path)
    values = pa.array([{"bytes": "0.png", "path": "0.png"}] * table.num_rows, type=pa.struct(kind(pa)))
    pq.write_table(table.set_column(table.column_names.index(VIEW), VIEW, values), path)


def double_column(folder, column):
    import pyarrow.parquet as pq

    path = next((folder / "data").glob("*/*.parquet"))
    table = pq.read_table(path)
    pq.write_table(table.append_column(column, table.column(column)), path)


def retype_tasks(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"task_index": [[0]], "task": ["approach/gold_block"]}), folder / "meta/tasks.parquet")


def png_chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


# 69 bytes whose head tells of 200,000 x 200,000 pixels.
GIANT_PNG = b"\x89PNG\r\n\x1a\n" + b"".join(
    png_chunk(kind, content)
    for kind, content in (
        (b"IHDR", struct.pack(">IIBBBBB", 200_000, 200_000, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"\0" * 100)),
        (b"IEND", b""),
    )
)


BLACK_PNG = cv2.imencode(".png", np.zeros((16, 16, 3), np.uint8))[1].tobytes()


def drop_column(folder, column):
    import pyarrow.parquet as pq

    path = next((folder / "data").glob("*/*.parquet"))
    pq.write_table(pq.read_table(path).drop_columns([column]), path)


def drop_rows(folder):
    import pyarrow.parquet as pq

    path = next((folder / "data").glob("*/*.parquet"))
    pq.write_table(pq.read_table(path).slice(0, 0), path)


FAULTS = {
    "no rows": (drop_rows, "holds no rows"),
    "no info": (lambda d: (d / "meta/info.json").unlink(), "info.json: missing or not JSON"),
    "old version": (lambda d: edit_json(d / "meta/info.json", codebase_version="v2.1"), "'v2.1', wanted v3.x"),
    "count": (lambda d: edit_json(d / "meta/info.json", total_frames=14), "total_frames 14, the data files hold 13"),
    "split": (lambda d: edit_json(d / "meta/mcrl.json", split="all"), "split is 'all'"),
    "ticks": (lambda d: edit_json(d / "meta/mcrl.json", action_repeat_ticks=0), "action_repeat_ticks is 0"),
    "format": (lambda d: edit_json(d / "meta/mcrl.json", format_version=9), "format_version is 9"),
    "no side": (lambda d: edit_json(d / "meta/info.json", features={}), "the shape of observation.images.view is None"),
    "cut short": (lambda d: truncate(next((d / "data").glob("*/*.parquet"))), "truncated or not a parquet file"),
    "fps": (
        lambda d: edit_json(d / "meta/info.json", fps=20),
        "info.json: fps is 20, action_repeat_ticks 4 in meta/mcrl.json makes it 5; correct the one that is wrong",
    ),
    "no table of episodes": (
        lambda d: shutil.rmtree(d / "meta/episodes"),
        "meta/episodes/chunk-*/file-*.parquet is missing",
    ),
    "no time": (lambda d: drop_column(d, "timestamp"), "column timestamp is missing"),
    "no column": (lambda d: drop_column(d, "expert_action"), "column expert_action is missing"),
    "factor": (lambda d: edit_column(d, "action", first_changed([10, *[0] * 11])), "action has hotbar 10 in its row 0"),
    "nan": (lambda d: edit_column(d, "next.reward", first_changed(float("nan"))), "reward holds NaN"),
    "gap": (lambda d: edit_column(d, "next.reward", first_changed(None)), "next.reward has gaps"),
    "gap within": (lambda d: edit_column(d, "action", first_changed([None] * 12)), "action has gaps"),
    "order": (lambda d: edit_column(d, "frame_index", first_changed(3)), "frame_index is 3 in its row 0, wanted 0"),
    "two tasks": (lambda d: edit_column(d, "task_id", first_changed("other")), "task_id changes within the episode"),
    "early end": (lambda d: edit_column(d, "next.terminated", first_changed(True)), "ends before its last row"),
    "deed": (
        lambda d: edit_column(d, "observation.interaction", lambda values: [1] * len(values)),
        "observation.interaction is 1",
    ),
    "outcome": (lambda d: edit_column(d, "next.outcome", first_changed(99)), "next.outcome is not one of"),
    "no picture": (
        lambda d: edit_column(d, VIEW, first_changed({"bytes": b"cos\nsystem", "path": None})),
        "holds something that is no PNG file",
    ),
    "JPEG": (
        lambda d: edit_column(
            d, VIEW, first_changed({"bytes": cv2.imencode(".jpg", np.zeros((16, 16, 3)))[1].tobytes(), "path": None})
        ),
        "holds something that is no PNG file",
    ),
    "pixels": (
        lambda d: edit_column(d, "observation.target", first_changed([0.1, 12.0, *[0.5] * 5])),
        "observation.target is not of shares, 0 to 1",
    ),
    "nothing marked": (
        lambda d: edit_column(
            d, "observation.images.goal_mask", lambda values: [{"bytes": BLACK_PNG, "path": None}] * len(values)
        ),
        "observation.images.goal_mask is black, nothing is marked",
    ),
    "nothing valid": (
        lambda d: edit_column(d, "is_valid", lambda values: [False] * len(values)),
        "is_valid is false in every row",
    ),
    "goal form": (lambda d: edit_json(d / "meta/mcrl.json", goal_form="drawn"), "goal_form"),
    "giant picture": (
        lambda d: edit_column(d, VIEW, first_changed({"bytes": GIANT_PNG, "path": None})),
        "holds something that is no PNG file",
    ),
    "pictures elsewhere": (
        lambda d: retype_pictures(d, lambda pa: [("path", pa.string())]),
        "column observation.images.view is of type struct<path: string>, wanted the field bytes: binary",
    ),
    "pictures as text": (
        lambda d: retype_pictures(d, lambda pa: [("bytes", pa.string()), ("path", pa.string())]),
        "is of type struct<bytes: string, path: string>, wanted the field bytes: binary",
    ),
    "two columns": (lambda d: double_column(d, "task_index"), "column task_index is there twice"),
    "tasks' types": (retype_tasks, "tasks.parquet: columns are ['task_index', 'task'], wanted task_index of int64"),
    "nested": (lambda d: (d / "meta/info.json").write_text("[" * 200_000), "info.json: missing or not JSON"),
    "picture's size": (
        lambda d: edit_json(d / "meta/info.json", features=columns_of(24)),
        "a picture is (16, 16), meta/info.json says 24 x 24",
    ),
    "two goals": (
        lambda d: edit_column(d, "observation.images.goal", lambda values: [values[-1], *values[1:]]),
        "goal changes within the episode",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_sentence(lerobot, tmp_path, fault):
    damage, message = FAULTS[fault]
    written(lerobot, tmp_path / "demos")
    damage(tmp_path / "demos")
    with pytest.raises(ValueError, match=r"^[^\n]+$") as caught:
        lerobot[1].read_dataset(tmp_path / "demos")
    assert message in str(caught.value)
