"""The receipt of a shard: the small file beside it by which a finished one is known, and one that was changed."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from task_synthesis.json_text import parse_json

SHARD_SUFFIX = ".jsonl.gz"


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """What is known of a finished shard; its file is written after the shard's, so its presence means "done"."""

    num_tasks: int
    sha256: str
    """Of the text before compression: it does not depend on the version of zlib."""
    rejections: dict[str, int]


def receipt_file(shard_file: Path) -> Path:
    """Return the file of a shard's receipt."""
    return shard_file.with_name(shard_file.name.removesuffix(SHARD_SUFFIX) + ".json")


def receipt_to_json(receipt: Receipt) -> str:
    """Return the text of a receipt's file."""
    return json.dumps(asdict(receipt)) + "\n"


def receipt_from_json(text: str, *, where: str) -> Receipt:
    """Read a receipt; raise ValueError for anything else."""
    try:
        fields = parse_json(text)
        return Receipt(
            num_tasks=int(fields["num_tasks"]),
            sha256=str(fields["sha256"]),
            rejections={str(name): int(count) for name, count in fields["rejections"].items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ValueError(f"{where}: not a shard's receipt; remove the file and run `mcrl synth` again") from None
