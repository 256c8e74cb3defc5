"""Tables on the terminal: every name is printed as it is, whatever rich would make of it."""

import io
import sys

import pytest
from rich.text import Text

from mcrl.commands.table import print_table


@pytest.mark.parametrize("name", ["a[lr=1]", "b[red]", "p[/b]", "[", "a\\[b]", ":smile:", "[link=x]y[/link]"])
def test_a_name_in_title_header_and_cell_is_no_markup(capsys, name):
    print_table(f"title {name}", ["row", f"column {name}"], [[name, "1"], ["plain", f"2 {name}"]])
    title, _, header, _, first, second, _ = capsys.readouterr().out.splitlines()
    assert title.strip() == f"title {name}"
    assert f"column {name}" in header
    assert [cell.strip() for cell in first.strip("│").split("│")] == [name, "1"]
    assert f"2 {name}" in second


def test_a_cell_that_wants_a_colour_is_a_text(capsys):
    print_table("t", ["what", ""], [["disk", Text("bad", "red")]])
    assert "│ bad │" in capsys.readouterr().out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_table_is_drawn_in_what_the_output_can_hold(monkeypatch, encoding):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    print_table("t", ["row"], [["a"]])
    sys.stdout.flush()
    assert ("│ a   │" if encoding == "utf-8" else "| a   |") in written.getvalue().decode(encoding)


def test_who_reads_no_further_does_not_end_the_process_in_the_midst_of_what_it_does(monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(BrokenPipeError):  # not SystemExit
        print_table("t", ["row"], [["a"]])
