"""What the READMEs promise is there: linked files, subcommands, every option of every command shown, and counts."""

import re
import shlex
from pathlib import Path

import pytest

from mcrl.cli import COMMANDS, main
from worlds.blocks import BLOCKS
from worlds.generate.biomes import BIOMES
from worlds.generate.buildings import BUILDINGS
from worlds.mobs.kinds import MOBS

ROOT = Path(__file__).parents[1]
PAGES = [
    path
    for path in sorted(ROOT.rglob("*.md"))
    if not any(part.startswith(".") or part in ("node_modules", "runs") for part in path.relative_to(ROOT).parts)
]
_LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
_BLOCK = re.compile(r"^ *```\w*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def commands_shown() -> list[tuple[str, list[str]]]:
    """Return (page, words after `mcrl`) of every command in a block of code."""
    shown = []
    for page in PAGES:
        for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
            for line in block.splitlines():
                if line.startswith(("mcrl ", ".venv/bin/mcrl ")):
                    words = shlex.split(line, comments=True)
                    shown.append((page.relative_to(ROOT).as_posix(), words[1:]))
    return shown


def test_every_link_of_the_docs_leads_to_a_file():
    dead = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in _LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert not dead, "\n".join(dead)


def test_every_command_of_the_docs_is_a_subcommand():
    shown = commands_shown()
    assert len(shown) > 40
    assert not [f"{page}: mcrl {words[0]}" for page, words in shown if words[0] not in COMMANDS]


@pytest.mark.slow
def test_every_option_of_the_docs_is_one(capsys):
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "mcrl" / "commands").rglob("*.py"))
    known: dict[str, str] = {}
    unknown = []
    added = ("--tasks.skills.tag",)  # by who follows the page on skills
    for page, words in commands_shown():
        name = words[0]
        if name not in known:
            with pytest.raises(SystemExit):
                main([name, *(["laptop"] if name == "train" else []), "--help"])
            known[name] = capsys.readouterr().out
        for option in (word.partition("=")[0] for word in words if word.startswith("--")):
            # Some are of another form: `doctor ENGINE --install`, `synth --check`, whose fields these are.
            is_other = f'"{option}"' in sources or f"    {option[2:].replace('-', '_')}: " in sources
            is_listed = re.search(rf"{option}(?![\w.-])", known[name]) is not None
            if not (is_listed or is_other or option in added):
                unknown.append(f"{page}: mcrl {name} {option}")
    assert not unknown, "\n".join(unknown)


def test_the_readme_counts_what_there_is():
    counts = {
        "biomes": len(BIOMES),
        "kinds of structures": len(BUILDINGS),
        "kinds of mobs": len(MOBS),
    }
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not [f"{count} {what}" for what, count in counts.items() if f"{count} {what}" not in readme]
    # Not to the one, so that a block is added without this page.
    least = re.search(r"over (\d+) block kinds", readme)
    assert least is not None
    assert int(least[1]) < len(BLOCKS) <= int(least[1]) + 20
