"""What a reader wants to know of a recipe before starting it: machine, duration, and what it cannot do yet."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class RecipeNote:
    """One recipe in words."""

    machine: str
    duration: str
    summary: str
    notice: str | None = None
    """Said when a run starts; None says nothing."""
    is_on_built_in: bool = False
    """The notice holds in the built-in engine alone."""
    notice_without_gpu: str | None = None
    """Said instead where the run is on CPUs."""


RECIPE_NOTES: dict[str, RecipeNote] = {
    "laptop": RecipeNote(
        machine="2 cores, 8 GB",
        duration="10 to 20 minutes",
        summary="approach and break in bare worlds at 5 to 12 blocks: the quickest agent that is worth watching",
    ),
    "smoke": RecipeNote(
        machine="1 core", duration="under a minute", summary="every stage once, for tests; learns next to nothing"
    ),
    "workstation": RecipeNote(
        machine="2-16 cores, 24 GB",
        duration="two hours on 2 cores",
        summary="the paper's five skills at 5 to 20 blocks, half of the tasks in full worlds, at 96 px",
    ),
    "gpu": RecipeNote(
        machine="1 GPU, 16 cores, 64 GB",
        duration="hours",
        summary="tasks of workstation at 64 px: 1,024 environments, batches of 32,768 decisions, all on one GPU",
        notice="recipe gpu plays, acts and learns on the CUDA GPU; for the engine it needs the extra cuda "
        "(pip install 'mcrl[cuda]')",
        notice_without_gpu="recipe gpu is on the CPU here, of which it wants 16 cores and 64 GB of memory: torch finds "
        "no CUDA GPU, or --device says so",
    ),
    "cluster": RecipeNote(
        machine="Ray cluster, 80 cores or more",
        duration="days",
        summary="the base policy at 128 px, seven skills at 5 to 60 blocks, 32 workers, two updates of staleness, aipo",
        notice="this build learns on one GPU, or the CPU, of the machine that starts the run; workers act on CPUs",
    ),
    "paper": RecipeNote(
        machine="Ray cluster with large memory",
        duration="weeks on CPUs (3 days on 14 GPUs in the paper)",
        summary="ROCKET-3's post-training with the hyper-parameters of its table 3, on the built-in engine",
        notice="this build acts on CPUs, for which a policy of 0.3 B parameters is very large, and learns on one "
        "GPU or the CPU",
    ),
    "minecraft_finetune": RecipeNote(
        machine="16 cores, 64 GB, ROCKET-2 weights",
        duration="days on CPUs",
        summary="public ROCKET-2 weights (--pretrained-weights FILE) fine-tuned at 20 decisions a second",
        notice="minecraft_finetune trains on the built-in engine unless --env.backend minestudio (or minerl) is given",
        is_on_built_in=True,
    ),
}


def note_of(recipe: str) -> RecipeNote:
    """Return the note of a recipe; ValueError where it has none yet."""
    if recipe not in RECIPE_NOTES:
        raise ValueError(
            f"recipe {recipe} has no row in RECIPE_NOTES of mcrl/recipe_notes.py; write what it needs and does there"
        )
    return RECIPE_NOTES[recipe]
