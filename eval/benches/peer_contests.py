"""The contests of `mcrl bench peers`: engines, training loops and evaluation."""

from collections.abc import Mapping

from eval.benches.peer_contest import Contest, Entrant
from eval.peers import turns
from policies.precision import uses_bf16

_WIDE, _SMALL, _SQUARE = "mcrl_160x120", "mcrl_80x60", "mcrl_64x64"
_OURS = "mcrl"
_NUMBER_FORMAT = "bf16" if uses_bf16("auto", "cpu") else "fp32"

ENGINE = Contest(
    part="engine",
    setting=(
        "engine: one tick a frame, random actions. Ours draws full worlds of 128 x 64 x 128 blocks with 8 mobs "
        "(standard_v1), RGB and instance mask, at the peer's size; ViZDoom draws RGB and labels, MiniWorld (rooms) and "
        "Craftax-Classic (a grid seen from above, 63 x 63, 64 environments) RGB alone"
    ),
    ours={
        name: f"eval.benches.standard_play {name.removeprefix('mcrl_')}" for name in (_WIDE, _SMALL, _SQUARE)
    },
    peers={
        "vizdoom": (
            Entrant(name="vizdoom_basic", driver="drive_vizdoom.py basic", rival=_WIDE),
            Entrant(name="vizdoom_my_way_home", driver="drive_vizdoom.py my_way_home", rival=_WIDE),
        ),
        "miniworld": (
            Entrant(name="miniworld_one_room", driver="drive_miniworld.py MiniWorld-OneRoom-v0", rival=_SMALL),
            Entrant(name="miniworld_maze", driver="drive_miniworld.py MiniWorld-MazeS3-v0", rival=_SMALL),
        ),
        "craftax": (Entrant(name="craftax_classic", driver="drive_craftax.py", rival=_SQUARE),),
    },
    iterations_per_turn=2,
)  # fmt: skip

TRAINING = Contest(
    part="training",
    setting=(
        f"training: whole loops on {turns.IMAGE_PX} x {turns.IMAGE_PX} px synthetic frames, {turns.NUM_ENVS} envs, "
        f"rollout {turns.ROLLOUT_STEPS}, minibatch {turns.MINIBATCH_FRAMES}, 1 epoch, Nature CNN, 1 thread a process; "
        f"ours and the plain loop compute in {_NUMBER_FORMAT}, peers as they ship"
    ),
    ours={_OURS: "eval.benches.nature_training"},
    yardsticks=(Entrant(name="plain_loop", driver=f"drive_plain.py {_NUMBER_FORMAT}", rival=_OURS),),
    peers={
        "sb3": (Entrant(name="sb3", driver="drive_sb3.py", rival=_OURS),),
        "sample_factory": (
            Entrant(name="sample_factory", driver="drive_sample_factory.py async", rival=_OURS),
            Entrant(name="sample_factory_serial", driver="drive_sample_factory.py serial", rival=_OURS),
        ),
        "rllib": (Entrant(name="rllib", driver="drive_rllib.py", rival=_OURS),),
    },
    iterations_per_turn=4,
)

EVALUATION = Contest(
    part="evaluation",
    setting=(
        f"evaluation: the training setting's frames and network, {turns.EPISODES_PER_EVALUATION} episodes of "
        f"{turns.EPISODE_STEPS} decisions by {turns.NUM_ENVS} envs a turn; ours keeps actions and whereabouts, as "
        f"`mcrl eval` does, Stable-Baselines3's evaluate_policy the returns; ours computes in {_NUMBER_FORMAT}, "
        "theirs as it ships"
    ),
    ours={_OURS: "eval.benches.nature_evaluation"},
    peers={"sb3": (Entrant(name="sb3_evaluate_policy", driver="drive_sb3_evaluation.py", rival=_OURS),)},
    iterations_per_turn=1,
)

CONTESTS_OF: Mapping[str, tuple[Contest, ...]] = {
    "sim": (ENGINE,),
    "learner": (TRAINING,),
    "peers": (ENGINE, TRAINING, EVALUATION),
}
"""By the name of the bench that holds them."""
