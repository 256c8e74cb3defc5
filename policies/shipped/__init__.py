"""The trained policies that come with the package: one folder each, a checkpoint without optimizer and its card."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent
CARD_FILE = "card.json"


def shipped_names() -> list[str]:
    """Return the names of the shipped policies, sorted."""
    return sorted(path.parent.name for path in FOLDER.glob(f"*/{CARD_FILE}"))


def shipped_folder(name: str) -> Path | None:
    """Return the checkpoint folder of the shipped policy of that name; None where there is none."""
    return FOLDER / name if name in shipped_names() else None


def shipped_name(folder: Path) -> str | None:
    """Return the name under which a checkpoint folder is shipped; None where it is another checkpoint."""
    return folder.name if folder.parent == FOLDER and folder.name in shipped_names() else None
