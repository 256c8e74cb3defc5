"""Typed options of a subcommand: a dataclass read from arguments, every mistake one sentence."""

import contextlib
import dataclasses
import io
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import TypeVar, get_type_hints

import tyro

OptionsT = TypeVar("OptionsT")

# Lines that tyro draws around a message, and the tail that repeats the help.
_FRAME = re.compile(r"^[\s\u2500-\u257f-]*$")
# Where a check of our own failed, tyro names the class or option; the sentence itself already says where.
_PARSING = re.compile(r"^Error parsing [A-Za-z_][\w.]*: ")
# What Python says of text that is no number, and what a reader of a command line is told.
_READINGS = (
    (re.compile(r"invalid literal for int\(\) with base 10: ('[^']*')"), r"\1 is no whole number"),
    (re.compile(r"Missing value for argument '(--[\w.-]+)'.*"), r"\1 needs a value"),
    (
        re.compile(r"\[[^]]*\] does not match choices .*: input length (\d+) did not match .* count (\d+).*"),
        r"needs \2 values, got \1",
    ),
    (re.compile(r"could not convert string to float: ('[^']*')"), r"\1 is no number"),
)
_LOWER_NONE = re.compile(r"('(?:none|null|NONE|off)' is no (?:whole )?number)")
# How tyro begins what it says of a value, and how it tries the types of a value that may be absent, None the first.
_VALUE = re.compile(
    r"^Error parsing (?:-\w/)?(?P<option>--\S+): (?:no type matching .*- <class '\w+'>: )?(?P<reason>.*)"
)
# A line of what is missing; help text follows below it, and may name other options.
_MISSING = re.compile(r"(?:-\w \S+, )?(--[a-z][\w.-]*) \S+$")
_TAIL = re.compile(r"For full helptext|Argument helptext")


def read_options(
    kind: type[OptionsT],
    args: Sequence[str],
    *,
    prog: str,
    description: str,
    usage: str | None = None,
    default: OptionsT | None = None,
) -> OptionsT:
    """Read `kind` from command line arguments, `default` changed where an option says so.

    `usage` is how the help writes the command with what stands before its options, `prog` unless told otherwise.

    Raises:
        ValueError: an unknown option (names the nearest), a missing one or a bad value; one sentence.
        SystemExit: after `--help` was printed.
    """
    if any(arg in ("-h", "--help") for arg in args):
        with _flowing_docstrings():
            tyro.cli(kind, prog=usage or prog, description=description, default=default, args=["--help"])
    printed = io.StringIO()
    try:
        with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed):
            options, unknown = tyro.cli(kind, prog=prog, default=default, args=list(args), return_unknown_args=True)
    except SystemExit:
        # A check of our own may have spoken first, and of what the mistyped option was to give.
        mistyped = _mistyped(args, option_names(kind, default))
        if mistyped is not None:
            raise ValueError(_unknown_sentence(mistyped, prog, option_names(kind, default))) from None
        raise ValueError(f"{prog}: {_message(printed.getvalue(), prog)}") from None
    if unknown:
        raise ValueError(_unknown_sentence(unknown[0], prog, option_names(kind, default)))
    _refuse_empty(args)
    assert options is not None
    return options


@contextlib.contextmanager
def _flowing_docstrings() -> Iterator[None]:
    """Let tyro read the docstring of a field as one paragraph.

    It takes a further line, which is indented in the source, for a point of a list and keeps the break before it: at 80
    columns every second line of a help page then ended after a word or two.
    """
    import docstring_parser  # tyro, too, imports it for a help page alone

    parse = docstring_parser.parse_from_object

    def parse_flowing(
        obj: object, style: docstring_parser.DocstringStyle = docstring_parser.DocstringStyle.AUTO
    ) -> docstring_parser.Docstring:
        docstring = parse(obj, style)
        for field in docstring.params:
            field.description = field.description and " ".join(field.description.split())
        return docstring

    docstring_parser.parse_from_object = parse_flowing
    try:
        yield
    finally:
        docstring_parser.parse_from_object = parse


def option_names(kind: type, default: object | None = None, *, prefix: str = "") -> list[str]:
    """Return the long options of a dataclass, nested ones as --outer.inner; a field named "" adds no prefix."""
    names = []
    hints = get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        value = getattr(default, field.name, None) if default is not None else None
        if value is None and field.default_factory is not dataclasses.MISSING:
            value = field.default_factory()
        elif value is None and field.default is not dataclasses.MISSING:
            value = field.default
        name = prefix + (_given_name(hints[field.name]) or field.name).replace("_", "-")
        if _given_name(hints[field.name]) == "":
            names += option_names(type(value), value, prefix=prefix)
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            names += option_names(type(value), value, prefix=f"{name}.")
        elif isinstance(value, dict) and value:
            names += [f"--{name}.{key.replace('_', '-')}" for key in value]
        else:
            names.append(f"--{name}")
    return names


def _refuse_empty(args: Sequence[str]) -> None:
    """Raise ValueError for an option whose value is empty, as a variable that was never set: a path would be here."""
    for index, arg in enumerate(args):
        name, equals, value = arg.partition("=")
        # "--token=c2VjcmV0MQ==" ends so and is not empty.
        is_empty = (equals and not value) or list(args[index + 1 : index + 2]) == [""]
        if arg.startswith("--") and is_empty:
            raise ValueError(f"{name}: is empty; give a value, or leave the option out")


def _given_name(hint: object) -> str | None:
    """Return the name a field has on the command line by `tyro.conf.arg(name=...)`; "": its own fields stand for it."""
    return next((mark.name for mark in getattr(hint, "__metadata__", ()) if hasattr(mark, "name")), None)


def _unknown_sentence(argument: str, prog: str, names: Sequence[str]) -> str:
    if not argument.startswith("-"):
        return (
            f"{prog}: {argument!r} is one argument too many, or stands behind options where it belongs before them; "
            f"`{prog} --help` says what it takes"
        )
    name = argument.partition("=")[0]
    # Most often the section is missing or another one: --num-iterations, --eval.num-tasks.
    holding = [known for known in names if _words(name) <= _words(known)]
    close = sorted(holding, key=len)[:1] or get_close_matches(name.replace("_", "-"), names, n=1, cutoff=0.6)
    hint = f"did you mean {close[0]}?" if close else f"`{prog} --help` lists the options"
    return f"{name}: no such option; {hint}"


def _mistyped(args: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the first argument that looks like an option and is none; None where each may be one.

    The keys of a table, --tasks.skills.hunt, are not known here: those are left to tyro.
    """
    for arg in args:
        name = arg.partition("=")[0].replace("_", "-")
        is_option = re.match(r"--[a-z]", name) and name.count(".") < 2
        if is_option and not {name, re.sub(r"(^--|\.)no-", r"\1", name)} & set(names):
            return arg
    return None


def _words(option: str) -> set[str]:
    return set(re.split(r"[._-]+", option.strip("-")))


def _message(printed: str, prog: str) -> str:
    """Return the sentence inside tyro's box."""
    lines = []
    for line in printed.splitlines()[1:]:
        text = re.sub(r"[\u2500-\u257f]", " ", line).strip()
        if _TAIL.search(text):
            break
        if not _FRAME.match(text):
            lines.append(text)
    text = _PARSING.sub("", " ".join(lines))
    if text.startswith("Missing from"):
        missing = [match[1] for match in map(_MISSING.match, lines) if match]
        return f"{' and '.join(missing)} must be given; `{prog} --help` lists the options"
    for pattern, reading in _READINGS:
        text = pattern.sub(reading, text)
    if "no type matching" in text:  # an option that takes None besides its type
        text = _LOWER_NONE.sub(r"\1; None, with a capital letter, sets none", text)
    text = _VALUE.sub(r"\g<option>: \g<reason>", text)
    return text or f"bad arguments; `{prog} --help` lists the options"


# What nobody reads to its end, such as the names of all items.
_MAX_CHOICES = 60


def nearest(name: str, choices: Sequence[str]) -> str:
    """Return the second half of an error: the closest choice, or all of them, or some of many, when none is close."""
    close = get_close_matches(name, choices, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]}?"
    if len(choices) > _MAX_CHOICES:
        return f"there are {len(choices)}, for instance {', '.join(choices[:: len(choices) // 8])}"
    return f"there are {', '.join(choices)}"


def split_positional(args: Sequence[str]) -> tuple[str | None, list[str]]:
    """Split off a leading argument that is no option; None when there is none. Raise ValueError where it is empty."""
    if args and not args[0]:
        raise ValueError("the first argument is empty; give a value")
    if args and not args[0].startswith("-"):
        return args[0], list(args[1:])
    return None, list(args)
