"""The columns of demonstrations as a LeRobot dataset, version 3.0: one row a decision.

LeRobot and not Minari: its format is parquet files and JSON that everything in the field reads, its images lie in the
table as PNG files, without loss, and writing it takes pyarrow alone. Minari's HDF5 holds episodes as arrays of one
Gymnasium space, for which a goal picture would be a constant stored at every step. Here a goal is written once an
episode: parquet keeps equal values of a row group once.

    observation.images.view        image [H, W, 3]   the view before the action, row 0 is the top
    observation.images.goal        image [H, W, 3]   the goal picture, the same in all rows of an episode
    observation.images.goal_mask   image [H, W, 3]   white where the target is in the goal picture, else black
    observation.interaction        int64 [1]         what to do with it, see task_synthesis.interaction
    observation.target             float32 [7]       where the target is in the view, see worlds.types.TARGET_LABELS;
                                                     the auxiliary losses learn it; all are shares, 0 to 1
    action                         int64 [12]        what was done, a class of each factor of policies.action_codec
    expert_action                  int64 [12]        what is to be imitated; for human data the same as action
    next.reward                    float32 [1]       1 for success
    next.terminated, .truncated    bool [1]          the episode ended here by itself, or by a limit or a fault
    next.outcome                   int64 [1]         task_synthesis.playing.task_env.Outcome
    is_valid                       bool [1]          false where the engine failed; not learned from
    task_id                        string [1]        of the TaskSpec; any name that tells attempts apart
    timestamp, frame_index, episode_index, index, task_index     as LeRobot has them

meta/info.json, meta/tasks.parquet and meta/episodes/ are LeRobot's; a task is a family, "approach/gold_block".
meta/stats.json is left out: what is normalised here is not normalised by a data set. meta/mcrl.json says what LeRobot
has no place for: the split of the worlds ("train", "val", "held_out"), which keeps held-out worlds out of training,
how many ticks of 50 ms a decision lasted, and how goals are shown, see task_synthesis.views.goal_forms (left out, it
is not asked for). It is, whole,

    {"format_version": 1, "split": "train", "action_repeat_ticks": 4, "goal_form": "cross_view"}

and "fps" in meta/info.json is then 5: 20 ticks a second by action_repeat_ticks, rounded (2.5 to 2), at least 1.
"""

from typing import Any

from policies import action_codec
from worlds.types import TARGET_LABELS

VIEW, GOAL, GOAL_MASK = "observation.images.view", "observation.images.goal", "observation.images.goal_mask"
IMAGES = (VIEW, GOAL, GOAL_MASK)
INTERACTION, TARGET, TASK_ID = "observation.interaction", "observation.target", "task_id"
ACTION, EXPERT_ACTION = "action", "expert_action"

INFO_FILE, TASKS_FILE, MCRL_FILE = "meta/info.json", "meta/tasks.parquet", "meta/mcrl.json"
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
EPISODES_PATH = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
FILES_PER_CHUNK, FILE_MB = 1000, 100
CODEBASE_VERSION = "v3.0"
FORMAT_VERSION = 1
TICKS_PER_S = 20

# Scalars of an episode, a number a row: column, name of the array in mcrl.demos.episode.Episode, type.
SCALARS: tuple[tuple[str, str, str], ...] = (
    ("next.reward", "reward_T", "float32"),
    ("next.terminated", "terminated_T", "bool"),
    ("next.truncated", "truncated_T", "bool"),
    ("next.outcome", "outcome_T", "int64"),
    ("is_valid", "is_valid_T", "bool"),
)
# Vectors, a row of fixed length each.
VECTORS: tuple[tuple[str, str, str, int], ...] = (
    (TARGET, "target_T7", "float32", len(TARGET_LABELS)),
    (ACTION, "action_TA", "int64", action_codec.NUM_FACTORS),
    (EXPERT_ACTION, "expert_action_TA", "int64", action_codec.NUM_FACTORS),
)


def info_fps(action_repeat_ticks: int) -> int:
    """Return the "fps" of meta/info.json: LeRobot wants whole frames a second, and timestamps tell the truth."""
    return max(1, round(TICKS_PER_S / action_repeat_ticks))


def features(image_px: int) -> dict[str, dict[str, Any]]:
    """Return the "features" of meta/info.json."""
    image = {"dtype": "image", "shape": [image_px, image_px, 3], "names": ["height", "width", "channel"]}
    names = {TARGET: list(TARGET_LABELS)}
    factors = [name for name, _ in action_codec.FACTORS]
    scalars = [(column, kind) for column, _, kind in SCALARS]
    scalars += [(INTERACTION, "int64"), (TASK_ID, "string"), ("timestamp", "float32")]
    scalars += [(column, "int64") for column in ("frame_index", "episode_index", "index", "task_index")]
    return (
        {column: dict(image) for column in IMAGES}
        | {
            column: {"dtype": kind, "shape": [size], "names": names.get(column, factors)}
            for column, _, kind, size in VECTORS
        }
        | {column: {"dtype": kind, "shape": [1], "names": None} for column, kind in scalars}
    )
