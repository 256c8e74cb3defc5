"""What every test of a refused command line expects."""

from mcrl.cli import main


def refusal(capsys, *argv: str) -> str:
    """Run the command line, expect exit code 2 and one line on stderr, and return it."""
    capsys.readouterr()
    assert main([str(arg) for arg in argv]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = printed.err.splitlines()
    assert len(lines) == 1, printed.err
    assert "Traceback" not in printed.err
    return lines[0]
