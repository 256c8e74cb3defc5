"""`mcrl ship`: put a checkpoint among the policies that come with the package, with a card that says what it is."""

import re
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcrl.commands.options import read_options, split_positional
from mcrl.commands.writable import check_can_write
from mcrl.policy_card import CardScore, PolicyCard, read_card, write_card
from policies.shipped import CARD_FILE, FOLDER
from task_synthesis.json_text import parse_json

_PROG = "mcrl ship"
_NAME = re.compile(r"[a-z][a-z0-9_]*")
# A checkpoint of such a name becomes a row of the evaluations of those beside it.
_TAKEN_NAMES = ("imitation", "dagger")
# A package is downloaded by everybody who wants any part of it.
MAX_WEIGHTS_BYTES = 15_000_000


@dataclass(frozen=True, kw_only=True)
class ShipOptions:
    """Under which name a checkpoint is shipped, and what its card says."""

    name: str
    """What users type: `mcrl eval NAME`."""
    scores: tuple[Path, ...] = ()
    """Folders that `mcrl eval` wrote for these weights; every row of each goes into the card. None named: those of the
    card of a policy that is shipped already, else none."""
    command: str | None = None
    """Command line of the training; None takes it from the report of the run, or the card of a shipped policy."""
    commit: str | None = None
    """Commit of the code that trained; None takes it from the same place."""
    replace: bool = False
    """Put the policy in the place of another one of that name; without this only the same weights may be shipped
    again."""
    out: Path = FOLDER
    """Folder in which the policy's own folder appears; by default that of the package."""

    def __post_init__(self) -> None:
        if self.name in _TAKEN_NAMES:
            raise ValueError(f"--name {self.name}: names a stage of training; choose another name")
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"--name must be lower-case letters, digits and _, a letter first, got {self.name!r}")


def ship_command(args: Sequence[str]) -> int:
    """Write the policy's folder and say how large it is."""
    given, rest = split_positional(args)
    description = "CHECKPOINT is a checkpoint or run folder."
    options = read_options(ShipOptions, rest, prog=_PROG, usage=f"{_PROG} CHECKPOINT", description=description)
    if given is None:
        raise ValueError(f"{_PROG}: name a checkpoint or run folder first, for instance runs/laptop")
    from mcrl.run_folder import checkpoint_of

    folder = options.out / options.name
    check_can_write(folder, is_folder=True)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / CARD_FILE).is_file():
        raise ValueError(f"{folder}: holds something else than a shipped policy; choose another --name or --out")
    source = checkpoint_of(Path(given))
    if not options.replace:
        _check_same(source, folder)
    card = ship(source, folder, options)
    print(
        f"{folder}: {card.num_parameters:,} parameters, {card.weights_bytes:,} bytes, "
        f"{len(card.scores)} scores{'' if card.scores else ' (--scores takes those of an evaluation)'}, "
        f"sha256 {card.weights_sha256}"
    )
    return 0


def _check_same(source: Path, folder: Path) -> None:
    """Refuse to put other weights in the place of a policy that is shipped already."""
    from eval.judging.suite_row import weights_sha256_of

    if not (folder / CARD_FILE).is_file():
        return
    known = read_card(folder / CARD_FILE)
    if known.weights_sha256 != weights_sha256_of(source):
        raise ValueError(
            f"{folder}: another policy of this name is there, of recipe {known.recipe}, {known.date}; choose another "
            "--name, or give --replace"
        )


def ship(source: Path, folder: Path, options: ShipOptions) -> PolicyCard:
    """Write the weights of the checkpoint `source` and their card to `folder`; return the card.

    Optimizer, generator and what was learned about tasks stay behind: nobody goes on with the run from here. Weights
    keep their float32, so that a shipped policy plays as the judged one did, to the bit.
    """
    from eval.judging.suite_row import weights_sha256_of
    from mcrl import checkpoint
    from mcrl.checkpoint import Checkpoint, CheckpointState
    from mcrl.run_folder import config_of, run_dir_of
    from mcrl.trained import load_policy
    from mcrl.whole_folder import written_whole

    saved, config = checkpoint.load(source), config_of(source)
    num_parameters = sum(parameter.numel() for parameter in load_policy(source, config).parameters())
    weights_sha256 = weights_sha256_of(source)
    scores = tuple(score for judged in options.scores for score in _scores(judged, weights_sha256))
    copied = _card_of(source, weights_sha256)
    if copied is None:
        command, commit = _training(run_dir_of(source), options)
    else:
        command = _portable_command(options.command or copied.command)
        commit, scores = options.commit or copied.commit, scores or copied.scores
    num_bytes = sum(tensor.numel() * tensor.element_size() for tensor in saved.model.values())
    if num_bytes > MAX_WEIGHTS_BYTES:
        raise ValueError(
            f"{source}: its weights take {num_bytes:,} bytes, the package holds at most {MAX_WEIGHTS_BYTES:,}; ship a "
            "policy of a smaller preset"
        )
    state = CheckpointState(
        stage=saved.state.stage,
        iteration=saved.state.iteration,
        version=saved.state.version,
        preset=saved.state.preset,
        image_px=saved.state.image_px,
        config={name: _cut_short(value) for name, value in saved.state.config.items()},
    )
    with written_whole(folder) as partial:  # the card too: without one, what is there is no shipped policy any more
        checkpoint.write(partial, Checkpoint(model=saved.model, optimizer={}, state=state))
        card = PolicyCard(
            name=options.name,
            recipe=config.recipe,
            command=command,
            commit=commit,
            date=time.strftime("%Y-%m-%d", time.gmtime()),
            preset=state.preset,
            image_px=state.image_px,
            num_parameters=num_parameters,
            stage=state.stage,
            iteration=state.iteration,
            weights_bytes=(partial / "model.safetensors").stat().st_size,
            weights_sha256=weights_sha256_of(partial),
            scores=scores,
        )
        write_card(card, partial / CARD_FILE)
        for path in partial.iterdir():
            path.chmod(0o644)  # safetensors writes for the owner alone, and others install the package
    return card


def _card_of(source: Path, weights_sha256: str) -> PolicyCard | None:
    """Return the card of a policy that is shipped already; None for another checkpoint, or a card of other weights."""
    path = source / CARD_FILE
    card = read_card(path) if path.is_file() else None
    return card if card is not None and card.weights_sha256 == weights_sha256 else None


def _training(run_dir: Path, options: ShipOptions) -> tuple[str, str]:
    """Return command line and commit of the training, from the options or else from what the run or its report says."""
    from eval.judging.origin import FILE_NAME, read_origin
    from mcrl.run_commands import read_commands

    command, commit = options.command, options.commit
    noted = read_commands(run_dir)
    # A run that was begun by an older mcrl, or from a copied config.json, does not say how.
    if noted and "--resume" not in noted[0].command:
        command = command or noted[0].command
        commit = commit or ", ".join(dict.fromkeys(one.commit for one in noted))
    if (command is None or commit is None) and (run_dir / FILE_NAME).is_file():
        origin = read_origin(run_dir)
        # Of an older mcrl: a resumed run's report repeats the resume, which says nothing of how the run was begun.
        if origin.command.startswith(("mcrl train", "mcrl pretrain")) and "--resume" not in origin.command:
            command, commit = command or origin.command, commit or origin.commit
    if command is None or commit is None:
        raise ValueError(
            f"{_PROG}: no report in {run_dir} says which command and commit made the weights; give --command and "
            "--commit"
        )
    return _portable_command(command), commit


def _scores(judged: Path, weights_sha256: str) -> list[CardScore]:
    """Return every row of an evaluation; ValueError where it did not judge these weights."""
    from eval.judging.judged_folder import PLAN_FILE, read_folder
    from eval.reports.report import summarise

    folder = read_folder(judged)
    summary = summarise(folder.episodes, folder.origin)
    try:
        rows = parse_json((judged / PLAN_FILE).read_text(encoding="ascii"))["rows"]
        judged_sha256 = rows[summary.main_row]["weights_sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        raise ValueError(f"{judged / PLAN_FILE}: missing or not the plan of an evaluation; judge again") from None
    if judged_sha256 != weights_sha256:
        raise ValueError(
            f"{judged}: its row {summary.main_row!r} played weights {judged_sha256[:12]}, these are "
            f"{weights_sha256[:12]}; judge this checkpoint with `mcrl eval`"
        )
    return [
        CardScore(
            suite=folder.origin.suite,
            num_tasks=summary.num_tasks,
            row=score.row,
            success=round(score.over_skills.value, 6),
            low_95=round(score.over_skills.low, 6),
            high_95=round(score.over_skills.high, 6),
            command=_portable_command(folder.origin.command),
            commit=folder.origin.commit,
        )
        for score in summary.scores
    ]


def _cut_short(value: object) -> object:
    """Return a config's value, a place that only its maker's machine has cut to its end: "runs/..." or a name."""
    if isinstance(value, dict):
        return {key: _cut_short(inner) for key, inner in value.items()}
    if isinstance(value, str) and Path(value).is_absolute():
        parts = Path(value).parts
        begin = max((index for index, part in enumerate(parts) if part == "runs"), default=len(parts) - 1)
        return "/".join(parts[begin:])
    return value


def _portable_command(command: str) -> str:
    """Return a command line whose absolute paths are cut short in the same way."""
    words = []
    for word in shlex.split(command):
        option, equals, value = word.partition("=")
        is_option = bool(equals) and option.startswith("-")
        words.append(f"{option}={_cut_short(value)}" if is_option else str(_cut_short(word)))
    return shlex.join(words)
