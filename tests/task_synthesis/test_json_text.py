"""Claims about text read as JSON: what cannot be read is a ValueError that says why."""

import pytest

from task_synthesis.json_text import parse_json


def test_json_is_read_and_its_objects_are_made_as_asked():
    assert parse_json('{"a": [1, 2.5, null]}') == {"a": [1, 2.5, None]}
    assert parse_json('{"a": 1, "b": {}}', object_pairs_hook=list) == [("a", 1), ("b", [])]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Expecting value at column 1"),
        ('{"a": }', "Expecting value at column 7"),
        ('{"a": 1,\n "b": }', "Expecting value at line 2, column 7"),
        ('{"a": [1,\n', "Expecting value at line 2, column 1"),
        ("[" * 200_000, "it is nested too deep"),
        ('{"a":' * 200_000, "it is nested too deep"),
        ("9" * 5000, "it has an integer of more than 4300 digits"),
    ],
    ids=lambda text: text[:20],
)
def test_what_cannot_be_read_says_why(text, said):
    with pytest.raises(ValueError, match=f"^{said}$") as caught:
        parse_json(text)
    assert type(caught.value) is ValueError
