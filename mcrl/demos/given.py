"""The demonstrations that a run is given instead of recording them."""

from pathlib import Path

from mcrl.config import TrainConfig
from mcrl.demos.episode import fragments_of
from mcrl.rollout.fragment import Fragment
from policies.device import to_numpy
from policies.interface import Policy
from task_synthesis.held_out import HELD_OUT_KINDS


def check_given(config: TrainConfig) -> None:
    """Raise ValueError where a run could not use the dataset it names; looks at its tables and no row of them."""
    if config.imitation.demos is None:
        return
    from mcrl.demos.lerobot_tables import check_tables, read_about
    from mcrl.demos.pyarrow_import import import_pyarrow  # which the core runs without

    import_pyarrow()
    folder = Path(config.imitation.demos)
    about = read_about(folder)
    if about.split != "train":
        raise ValueError(
            f"imitation.demos {folder}: its worlds are of the split {about.split!r}, and a run learns in train worlds; "
            "export a train library"
        )
    for name, got, wanted in (
        ("image_px", about.image_px, config.env.image_px),
        ("action_repeat_ticks", about.action_repeat_ticks, config.env.action_repeat_ticks),
        ("goal_form", about.goal_form, config.env.goal_form),
    ):
        if got is not None and got != wanted:
            option = name.replace("_", "-")
            raise ValueError(
                f"imitation.demos {folder}: its {name} is {got}, that of this run {wanted}; give --env.{option} {got}"
            )
    for family in check_tables(folder, about).values():
        kind = family.partition("/")[2]
        if kind in HELD_OUT_KINDS:
            raise ValueError(
                f"imitation.demos {folder}: it shows {family}, and that kind is held out of training, to be judged on; "
                "leave those episodes out"
            )


def read_demonstrations(config: TrainConfig, policy: Policy) -> list[Fragment]:
    """Return the dataset that the config names as fragments; each starts with an empty memory of `policy`."""
    assert config.imitation.demos is not None
    from mcrl.demos.lerobot_reader import read_dataset

    check_given(config)
    memory = {name: to_numpy(tensor)[0][0] for name, tensor in policy.initial_memory(1).items()}
    dataset = read_dataset(Path(config.imitation.demos))
    return fragments_of(dataset.episodes, fragment_steps=config.imitation.fragment_steps, memory=memory)
