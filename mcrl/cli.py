"""The command line `mcrl`: finds the subcommand, runs it, and turns bad input into one sentence and exit code 2."""

import errno
import os
import select
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from mcrl.interrupt import SigtermAsInterrupt, Terminated
from mcrl.name_clash import check_names
from mcrl.operating_system import check_operating_system

# Everything heavy is imported by the subcommand that needs it: `mcrl --help` answers in a tenth of a second.

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143


@dataclass(frozen=True, slots=True)
class Command:
    """One subcommand."""

    usage: str
    summary: str
    run: Callable[[Sequence[str]], int]


def _train(args: Sequence[str]) -> int:
    from mcrl.commands.training.train import train_command

    return train_command(args)


def _pretrain(args: Sequence[str]) -> int:
    from mcrl.commands.training.train import pretrain_command

    return pretrain_command(args)


def _scale(args: Sequence[str]) -> int:
    from mcrl.commands.training.scale import scale_command

    return scale_command(args)


def _eval(args: Sequence[str]) -> int:
    from mcrl.commands.evaluation.evaluate import eval_command

    return eval_command(args)


def _ablate(args: Sequence[str]) -> int:
    from mcrl.commands.evaluation.ablate import ablate_command

    return ablate_command(args)


def _suites(args: Sequence[str]) -> int:
    from mcrl.commands.evaluation.suites import suites_command

    return suites_command(args)


def _report(args: Sequence[str]) -> int:
    from mcrl.commands.evaluation.report import report_command

    return report_command(args)


def _curves(args: Sequence[str]) -> int:
    from mcrl.commands.evaluation.curves import curves_command

    return curves_command(args)


def _synth(args: Sequence[str]) -> int:
    from mcrl.commands.tasks.synth import synth_command

    return synth_command(args)


def _demos(args: Sequence[str]) -> int:
    from mcrl.commands.training.demos import demos_command

    return demos_command(args)


def _bench(args: Sequence[str]) -> int:
    from mcrl.commands.bench.bench import bench_command

    return bench_command(args)


def _play(args: Sequence[str]) -> int:
    from mcrl.commands.screen.play import play_command

    return play_command(args)


def _view(args: Sequence[str]) -> int:
    from mcrl.commands.screen.view import view_command

    return view_command(args)


def _worlds(args: Sequence[str]) -> int:
    from mcrl.commands.tasks.worlds import worlds_command

    return worlds_command(args)


def _sheet(args: Sequence[str]) -> int:
    from mcrl.commands.screen.sheet import sheet_command

    return sheet_command(args)


def _ship(args: Sequence[str]) -> int:
    from mcrl.commands.shipped.ship import ship_command

    return ship_command(args)


def _recipes(args: Sequence[str]) -> int:
    from mcrl.commands.training.recipes import recipes_command

    return recipes_command(args)


def _policies(args: Sequence[str]) -> int:
    from mcrl.commands.shipped.policies import policies_command

    return policies_command(args)


def _plan(args: Sequence[str]) -> int:
    from mcrl.commands.training.plan import plan_command

    return plan_command(args)


def _status(args: Sequence[str]) -> int:
    from mcrl.commands.training.status import status_command

    return status_command(args)


def _compile(args: Sequence[str]) -> int:
    from mcrl.commands.machine.compile import compile_command

    return compile_command(args)


def _doctor(args: Sequence[str]) -> int:
    from mcrl.commands.machine.doctor import doctor_command

    return doctor_command(args)


COMMANDS: dict[str, Command] = {
    "train": Command("train RECIPE", "train an agent and report what it does in worlds it has never seen", _train),
    "recipes": Command("recipes", "list the recipes of train: machine, duration, settings", _recipes),
    "pretrain": Command("pretrain RECIPE", "only the first stage of train: imitation of the expert", _pretrain),
    "scale": Command("scale RUN", "add or retire rollout workers of a run while it goes on", _scale),
    "eval": Command("eval CHECKPOINT", "judge a checkpoint or shipped policy on held-out tasks", _eval),
    "ablate": Command("ablate NAME|all", "train variants of a recipe, judge them and print the table", _ablate),
    "suites": Command("suites", "list the frozen evaluation suites: claim, tasks, bands, hash", _suites),
    "report": Command("report DIR ...", "make the pages of evaluations again, compare them, look over suites", _report),
    "curves": Command("curves RUN ... --out FILE.svg", "draw how success grew while runs of a recipe learned", _curves),
    "synth": Command("synth -n N --out DIR", "make tasks and write them, or check, count and show them", _synth),
    "demos": Command("demos export|check", "write the expert's play as a LeRobot dataset, or check one", _demos),
    "bench": Command("bench NAME", "measure the speed of a part on this machine, or of others beside it", _bench),
    "play": Command("play", "play yourself, or watch the expert or a checkpoint", _play),
    "view": Command("view [TASKS|CHECKPOINT]", "point at a goal in a browser and watch an agent do it", _view),
    "worlds": Command("worlds SAVE", "say what is in a real Minecraft world and what its blocks become", _worlds),
    "sheet": Command("sheet --out FILE.png", "one picture of everything that the engine shows", _sheet),
    "ship": Command("ship CHECKPOINT --name NAME", "put a checkpoint among the policies that come along", _ship),
    "policies": Command("policies", "list the policies that come along, and how well each does", _policies),
    "plan": Command("plan [RECIPE]", "measure the parts of a run, predict its placements and pick one", _plan),
    "status": Command("status RUN_DIR", "what a run is at: progress, speed, queue, lags, drops, success", _status),
    "compile": Command("compile", "compile the engine now and not at its first use", _compile),
    "doctor": Command("doctor", "check this machine and say how to mend what is missing", _doctor),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit code: 0 done, 1 failed, 2 bad input, 130 by Ctrl-C, 143 by SIGTERM."""
    _open_closed_streams()
    try:
        with SigtermAsInterrupt():
            code = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except BrokenPipeError:
        if not _is_reader_gone():
            raise
        # Who reads our output has seen enough, as `head` does; Python would complain of it once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_INTERRUPTED
    return code


def _open_closed_streams() -> None:
    """Let what is said go nowhere where the caller has closed a stream (`>&-`): Python has None there."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  # as long as the process


def _run(args: list[str]) -> int:
    if not args or args[0] in ("-h", "--help", "help"):
        print(help_text())
        return 0 if args else EXIT_BAD_INPUT
    if args[0] == "--version":
        from mcrl.provenance import commit, version

        print(f"mcrl {version()} (commit {commit()})")
        return 0
    try:
        command = _command(args[0])
        check_operating_system()
        check_names()
        return command.run(args[1:])
    except (ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError) and _is_reader_gone():
            raise
        print(one_sentence(error, args), file=sys.stderr)
        return EXIT_BAD_INPUT
    except MemoryError as error:
        what = " ".join(str(error).split()) or "no more could be had"
        print(f"mcrl: the memory is not enough ({what}); ask for fewer or smaller things at a time", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt as interrupt:
        return _interrupted(interrupt)
    except RuntimeError as error:
        # Where Ctrl-C meets Python's threading as it takes a lock back, "release unlocked lock" is what arrives.
        if not isinstance(error.__context__, KeyboardInterrupt):
            raise
        return _interrupted(error.__context__)


def _interrupted(interrupt: KeyboardInterrupt) -> int:
    print("; ".join(["mcrl: interrupted", *map(str, interrupt.args)]), file=sys.stderr)
    return EXIT_TERMINATED if isinstance(interrupt, Terminated) else EXIT_INTERRUPTED


def _is_reader_gone() -> bool:
    """Tell whether stdout is a pipe that nobody reads any more; False where the system cannot say."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(sys.stdout.fileno(), select.POLLERR)
    return bool(poll.poll(0))


def _command(name: str) -> Command:
    if name in COMMANDS:
        return COMMANDS[name]
    close = get_close_matches(name, (*COMMANDS, "--version", "--help"), n=1, cutoff=0.6)
    hint = f"did you mean {close[0]}?" if close else f"the subcommands are {', '.join(COMMANDS)}"
    raise ValueError(f"{name}: no such {'option' if name.startswith('-') else 'subcommand'}; {hint}")


def help_text() -> str:
    """Return what `mcrl --help` prints."""
    width = max(len(command.usage) for command in COMMANDS.values())
    lines = [f"  mcrl {command.usage:<{width}}   {command.summary}" for command in COMMANDS.values()]
    return "\n".join(
        [
            "Train one visuomotor policy on very many Minecraft tasks and measure it in worlds it has never seen.",
            "",
            *lines,
            "",
            "`mcrl SUBCOMMAND --help` lists its options; `mcrl --version` names version and commit.",
        ]
    )


def one_sentence(error: Exception, args: Sequence[str] = ()) -> str:
    """Return an error's text on one line, with the name of the program before it; `args` are those of the command."""
    if isinstance(error, (NotADirectoryError, FileExistsError)) and error.filename:
        text = f"{error.filename}: a file stands where a folder is wanted; name another"
    elif isinstance(error, OSError) and error.errno == errno.ENOSPC:
        from mcrl.full_disk import full_disk_text

        text = full_disk_text(error, args, "run the same command again")
    elif isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror}"
    else:
        text = " ".join(str(error).split()) or type(error).__name__
    return text if text.startswith("mcrl ") else f"mcrl: {text}"


if __name__ == "__main__":
    sys.exit(main())
