"""The fields of an episode record in words, read from their one description in eval.episodes.records."""

import ast
import dataclasses
import inspect

from eval.episodes import records
from eval.episodes.records import JudgedEpisode


@dataclasses.dataclass(frozen=True, slots=True)
class FieldText:
    """One field of a line of episodes.jsonl."""

    name: str
    kind: str
    meaning: str


def field_texts() -> list[FieldText]:
    """Return every field in the order of the line. A field without a docstring explains itself by its name."""
    module = ast.parse(inspect.getsource(records))
    body = next(node.body for node in module.body if isinstance(node, ast.ClassDef) and node.name == "JudgedEpisode")
    texts = []
    for node, following in zip(body, [*body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        meaning = ""
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            meaning = str(following.value.value)
        texts.append(FieldText(node.target.id, ast.unparse(node.annotation), " ".join(meaning.split())))
    assert [text.name for text in texts] == [field.name for field in dataclasses.fields(JudgedEpisode)]
    return texts


def schema_text() -> str:
    """Return the fields as plain text, one a line."""
    lines = [f"{text.name} ({text.kind}){': ' + text.meaning if text.meaning else ''}" for text in field_texts()]
    return "\n".join(lines)


def schema_page() -> str:
    """Return the fields as a Markdown page, kept as eval/SCHEMA.md."""
    lines = [
        "# episodes.jsonl",
        "",
        f"One judged episode a line, schema {records.SCHEMA_VERSION}, written by `mcrl eval`. A line is a JSON object",
        "with exactly these fields, in this order, ASCII. A field that changes its meaning or goes raises the number,",
        "and readers refuse another number; lines of this schema are read for ever.",
        "",
        "| field | type | meaning |",
        "| --- | --- | --- |",
        *(f"| `{text.name}` | {text.kind.replace('|', 'or')} | {text.meaning} |" for text in field_texts()),
        "",
        f"Outcomes: {', '.join(f'`{name}`' for name in records.OUTCOMES)}.",
        f"Causes: {', '.join(f'`{name}`' for name in records.CAUSES)}; the first that holds counts.",
        "",
        "Beside it lie `tasks.jsonl` (the tasks in order, each regenerates its episode), `origin.json` (command,",
        "commit, hardware, suite and its hash, config) and `actions/ROW.UNIT.npz` (every action, so that each episode",
        "can be played again tick by tick), the report (`report.html`, `report.md`, `videos`) and what an interrupted",
        "evaluation goes on from (`plan.json`, `parts`, `lock`).",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(schema_page(), end="")
